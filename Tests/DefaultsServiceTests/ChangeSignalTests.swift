import DBus
import DefaultsProtocol
import Testing

@testable import ServiceHarness

/// Which programs get the signal of a change, and when.
@Suite struct ChangeSignalTests {
    private let domain = "org.example.App"

    private func changed(_ key: String, at generation: UInt64, by origin: String) -> ChangedSignal {
        ChangedSignal(
            domain: domain, layer: "domain", changed: [key], removed: [], generation: generation,
            origin: origin)
    }

    @Test func `A program has the reply to its change before the signal`() async throws {
        try await withService { service in
            let peer = service.peer
            let generation = try await peer.set(domain, "Key", .int64(1))
            #expect(
                peer.events == [
                    .reply("SetValue"),
                    .changed(changed("Key", at: generation, by: ""), values: []),
                ])
        }
    }

    @Test func `A change reaches those who follow its domain, with its generation and value`()
        async throws
    {
        try await withService { service in
            let (caller, follower) = (try await service.caller(), try await service.caller())
            let other = try await service.caller()
            try await caller.follow(domain)
            try await follower.follow(domain)
            try await other.follow("org.example.Other")
            let generation = try await caller.set(domain, "Key", .int64(1))
            #expect(
                follower.events.last
                    == .changed(
                        changed("Key", at: generation, by: caller.name), values: ["Key"]))
            // Its reply says it to the writer.
            #expect(caller.changes.isEmpty && other.changes.isEmpty)
            try await caller.call(Contract.Remove.self, (domain: domain, key: "Key"))
            #expect(follower.changes.last?.removed == ["Key"])
            #expect(follower.changes.map(\.generation) == [generation, generation + 1])
        }
    }

    @Test func `Who follows a domain no more hears no more of it`() async throws {
        try await withService { service in
            let (caller, follower) = (try await service.caller(), try await service.caller())
            try await follower.follow(domain)
            try await caller.set(domain, "Key", .int64(1))
            try await follower.call(Contract.Unfollow.self, [domain])
            try await caller.set(domain, "Key", .int64(2))
            #expect(follower.changes.count == 1)
        }
    }

    @Test func `The signal of a durable change waits for the disk, and later ones wait for it`()
        async throws
    {
        try await withService { service in
            let (caller, other) = (try await service.caller(), try await service.caller())
            let follower = try await service.caller()
            try await follower.follow(domain)
            let hold = await service.disk.hang()
            let call = try await caller.setDurably(domain, "Durable", .int64(1))
            let later = try await other.set(domain, "Later", .int64(2))
            #expect(follower.changes.isEmpty && !call.isAnswered)
            await hold.release()
            #expect(follower.changes.map(\.generation) == [later - 1, later])
        }
    }

    @Test func `GetChanges has what has changed since a generation, and nothing older`()
        async throws
    {
        try await withService { service in
            let caller = try await service.caller()
            try await caller.set(domain, "Old", .int64(1))
            try await caller.set(domain, "Removed", .int64(1))
            let since = try await caller.set(domain, "Changed", .int64(1))
            let changed = try await caller.set(domain, "Changed", .int64(2))
            try await caller.call(Contract.Remove.self, (domain: domain, key: "Removed"))
            // It is the same before and after the flush.
            for _ in 0..<2 {
                let reply = try await caller.call(
                    Contract.GetChanges.self, (domain: domain, since: since))
                #expect(reply.changed.map(\.0) == ["Changed"] && reply.removed == ["Removed"])
                #expect(reply.isComplete && reply.generation == changed + 1)
                await service.advance(by: .milliseconds(250))
            }
            #expect(try service.generationOnDisk(domain, "Changed") == changed)
        }
    }
}
