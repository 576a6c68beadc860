import ArchiveTestSupport
import DBus
import DefaultsProtocol
import PropertyList
import Testing

@testable import ServiceHarness

/// What waits for a slow disk, and what does not.
@Suite struct SlowDiskTests {
    private let app = "org.example.App"

    private func blob(_ size: Int) -> [UInt8] {
        Tree.archive(.data([UInt8](repeating: 0, count: size)))
    }

    @Test func `A durable change that waits for the disk holds back no other domain's signals`()
        async throws
    {
        try await withService { service in
            let peer = service.peer
            let hold = await service.disk.hang()
            let durable = try await peer.setDurably("a.b", "slow", 1)
            let quick = try await peer.set("a.b", "quick", 1)
            let host = try await peer.set("a.b@host", "quick", 1)
            let other = try await peer.set("c.d", "quick", 1)
            #expect(!durable.isAnswered)
            #expect(peer.changes.map(\.generation) == [other])
            peer.forgetEvents()
            await hold.release()
            #expect(peer.events.first == .reply("ApplyValues"))
            #expect(peer.changes.map(\.generation) == [try durable.get(), quick, host])
            #expect(peer.changes.map(\.layer) == ["domain", "domain", "host"])
        }
    }

    @Test func `While changes wait for a slow disk they are not refused, and reads continue`()
        async throws
    {
        try await withCaller { caller, service in
            let other = try await service.caller()
            let hold = await service.disk.hang()
            // The first begins a flush, the second waits for the next one, and there is no room for
            // the third before that one has ended, too.
            try await caller.put(app, [("a", blob(9 << 20))])
            try await caller.put(app, [("b", blob(15 << 20))])
            let large = try await caller.send(
                Contract.Apply.self,
                .init(domain: app, set: (0..<4).map { ("\($0)", blob(13 << 20)) }))
            // From the same program, behind it, and from another one.
            let behind = try await caller.send(Contract.ListKeys.self, app)
            for _ in 0..<10 { #expect(try await other.keys(app) == ["a", "b"]) }
            #expect(!large.isAnswered && !behind.isAnswered)
            await hold.release()
            #expect(try large.get() == 4)
            #expect(try behind.get() == ["0", "1", "2", "3", "a", "b"])
        }
    }

    @Test func `Programs that wait for the disk in a loop do not delay a long answer`()
        async throws
    {
        try await withCaller { caller, service in
            try await caller.call(
                Contract.ApplyValues.self,
                .init(domain: app, set: (0..<1000).map { ("\($0)", .int64(1)) }))
            try await caller.synchronize()
            let (writer, reader) = (try await service.caller(), try await service.caller())
            let hold = await service.disk.hang()
            let first = try await caller.setDurably("a.b0", "key", 1)
            // It waits for the flush after the one that stands still.
            let second = try await writer.setDurably("a.b1", "key", 1)
            let read = try await reader.send(Contract.GetAll.self, app)
            #expect(!first.isAnswered && !second.isAnswered && !read.isAnswered)
            let next = await service.disk.goOn(from: hold)
            // It comes between the two. A starved answer would wait until nobody writes any more.
            #expect(first.isAnswered && !second.isAnswered)
            #expect(try read.get().entries.count == 1000)
            await next.release()
            #expect(second.isAnswered)
        }
    }
}
