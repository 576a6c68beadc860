import DBus
import DefaultsProtocol
import Testing

@testable import ServiceHarness

/// A program that follows a domain and does not read.
struct UnreadSignalTests {
    private let domain = "org.example.App"
    private let count = 400

    /// Has a program follow the domain and stop reading, and changes more than it is sent.
    private func changeUnread(by writer: TestCaller, of deaf: TestCaller) async throws {
        try await deaf.follow(domain)
        try await deaf.setDeaf(true)
        for number in 0..<count {
            let bytes = [UInt8](repeating: 7, count: 8000 + number)
            try await writer.set(domain, "Key\(number % 7)", .bytes(bytes))
        }
    }

    @Test func `A program that does not read harms no other, and later learns what has changed`()
        async throws
    {
        try await withService { service in
            let (writer, deaf) = (try await service.caller(), try await service.caller())
            try await changeUnread(by: writer, of: deaf)
            // It asks for much, too, and the answers stay in the service.
            var answers: [Pending<Contract.GetAll.Reply>] = []
            for _ in 0..<30 { answers.append(try await deaf.send(Contract.GetAll.self, domain)) }
            #expect(try await writer.call(Contract.ListKeys.self, domain).count == 7)
            #expect(deaf.changes.isEmpty && answers.allSatisfy { !$0.isAnswered })
            await service.advance(by: .seconds(9))
            try await deaf.setDeaf(false)
            for answer in answers { #expect(try answer.get().entries.count == 7) }
            let generations = deaf.changes.map(\.generation)
            #expect(generations.count > 10 && generations.count < count)
            #expect(generations == generations.sorted())
            // What it has missed comes as one signal without names.
            let last = try #require(deaf.changes.last)
            #expect(last.changed.isEmpty && last.removed.isEmpty)
            #expect(last.generation == UInt64(count) + 1)
            // From then on it hears each change again.
            try await writer.set(domain, "Key", .int64(1))
            #expect(deaf.changes.last?.changed == ["Key"])
        }
    }

    @Test func `A program that reads nothing for ten seconds is cut off, and others are not`()
        async throws
    {
        try await withService { service in
            let (writer, deaf) = (try await service.caller(), try await service.caller())
            try await changeUnread(by: writer, of: deaf)
            let answer = try await deaf.send(Contract.ListKeys.self, domain)
            await service.advance(by: .seconds(10))
            try await deaf.setDeaf(false)
            #expect(throws: DBusError.self) { try answer.get() }
            #expect(try await writer.call(Contract.ListKeys.self, domain).count == 7)
        }
    }
}
