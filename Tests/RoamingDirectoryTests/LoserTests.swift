import DefaultsRoaming
import Foundation
import Testing

@testable import RoamingDirectory

@Suite("What lost in a directory")
struct LoserTests {
    @Test("comes a few at a time, and all in one round")
    func count() async throws {
        let network = try Network(2)
        let (device, other) = (network.devices[0], network.devices[1])
        try await device.round()
        try network.synchronize()
        try await other.round()
        let keys = (0..<450).map { RoamingKey(domain: "org.example.App", name: "key \($0)") }
        for (number, key) in keys.enumerated() { device.write("early \(number)", to: key) }
        try await device.round()
        network.clock.now += 1_000_000
        for (number, key) in keys.enumerated() { other.write("late \(number)", to: key) }
        try await other.round()
        try network.synchronize()
        try await device.meet()
        var (revision, counts): (UInt64, [Int]) = (0, [])
        var page: Page
        repeat {
            page = try await device.engine.pull(after: revision, limit: 1000)
            revision = page.revision
            counts.append(page.losers.count)
            try await device.keep(page.losers)
        } while page.hasMore
        #expect(counts == [200, 200, 50])
        #expect(network.ledger.told.count == 450)
    }

    @Test("comes in pages of 4 MiB, of which a larger one has one")
    func size() throws {
        let state = try DirectoryState(path: ":memory:")
        let key = RoamingKey(domain: "org.example.App", name: "key")
        func add(_ counter: Int64, _ archive: [UInt8]?) throws {
            let dot = Dot(FileFormatTests.replica(1), counter)
            try state.addLoser(Head(dot, time: .unknown, archive: archive), of: key)
        }
        #expect(try state.losers().first.isEmpty)
        #expect(try !state.losers().hasMore)
        for number in Int64(1)...6 { try add(number, [UInt8](repeating: 0, count: 1 << 20)) }
        let first = try state.losers()
        #expect(first.first.count == 4)
        #expect(first.hasMore)
        try state.noteKept(first.first)
        let second = try state.losers()
        #expect(second.first.count == 2)
        #expect(!second.hasMore)
        try state.noteKept(second.first)
        try add(7, [UInt8](repeating: 0, count: 5 << 20))
        try add(8, nil)
        #expect(try state.losers().first.map(\.archive?.count) == [5 << 20])
        #expect(try state.losers().hasMore)
    }

    @Test("is news if it is too much for the reply to a push")
    func news() async throws {
        let network = try Network(2)
        let (device, other) = (network.devices[0], network.devices[1])
        try await device.round()
        try network.synchronize()
        let keys = (0..<300).map { RoamingKey(domain: "org.example.App", name: "key \($0)") }
        for key in keys { other.write("theirs", to: key) }
        try await other.round()
        try network.synchronize()
        try await device.meet()
        let (news, continuation) = AsyncStream.makeStream(of: Void.self)
        await device.engine.onNews { continuation.yield() }
        let edits = keys.map {
            Edit(key: $0, archive: [1], age: nil, base: nil, earliest: .unknown)
        }
        let nonce = [UInt8](repeating: 1, count: 16)
        let (outcomes, losers) = try await device.engine.push(
            Batch(number: 1, nonce: nonce, edits: edits))
        #expect(outcomes.allSatisfy { $0.result == .lost })
        #expect(losers.count == 200)
        await device.engine.close()
        continuation.finish()
        #expect(await news.reduce(0) { count, _ in count + 1 } >= 1)
    }
}
