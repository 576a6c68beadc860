import DBus
import DefaultsProtocol
import Glibc
import SystemCalls
import Testing

@testable import ServiceHarness

/// Programs that follow domains on a connection to the service itself, without a bus.
@Suite struct FollowingTests {
    /// A change that comes with its values.
    private struct Change: Equatable {
        let domain: String
        var layer = "domain"
        /// The keys whose values come with it.
        var values: [String] = []
        var archive: [UInt8]?
        /// The keys that are only named.
        var large: [String] = []
        var removed: [String] = []
        let generation: UInt64
        let origin: String
    }

    private func changes(_ caller: TestCaller) -> [Change] {
        caller.changesWithValues.map { signal in
            let (change, values) = (signal.change, signal.changed.map(\.key))
            return Change(
                domain: change.domain, layer: change.layer, values: values,
                archive: signal.changed.first?.archive,
                large: change.changed.filter { !values.contains($0) }, removed: change.removed,
                generation: change.generation, origin: change.origin)
        }
    }

    private func size(of page: FileDescriptor) -> Int {
        var status = stat()
        return fstat(page.number, &status) == 0 ? Int(status.st_size) : 0
    }

    @Test
    func `Who follows a domain gets the changes of others with values, in order with replies`()
        async throws
    {
        try await withService { service in
            let (follower, other) = (try await service.caller(), try await service.caller())
            let reply = try await follower.call(Contract.Follow.self, ["a.b", "a.c"])
            #expect(size(of: reply.page) == 32768 && reply.generation == 1)
            #expect(reply.domains.map(\.spelling) == ["a.b", "a.c"])
            try await other.set("a.b", "key", "x")
            let archive = try await other.call(
                Contract.Get.self, (domain: "a.b", key: "key")
            ).archive
            #expect(try await service.peer.set("a.d", "key", "x") == 3)
            let host = try await service.peer.call(
                Contract.Set.self, (domain: "a.c@host", key: "key", archive: archive))
            #expect(host == 4)
            #expect(try await follower.set("a.b", "own", true) == 5)
            let bytes = Value.bytes([UInt8](repeating: 0, count: 20_000))
            #expect(try await other.apply("a.b", ["large": bytes], removing: ["key"]) == 6)
            // The reply comes after what was sent before it.
            #expect(try await follower.get("a.b", "own") == (true, 5))
            #expect(follower.events.last == .reply("GetValue"))
            #expect(
                changes(follower) == [
                    Change(
                        domain: "a.b", values: ["key"], archive: archive, generation: 2,
                        origin: other.name),
                    Change(
                        domain: "a.c", layer: "host", values: ["key"], archive: archive,
                        generation: 4, origin: service.peer.name),
                    Change(
                        domain: "a.b", large: ["large"], removed: ["key"], generation: 6,
                        origin: other.name),
                ])
            follower.forgetEvents()
            try await follower.call(Contract.Unfollow.self, ["a.b"])
            try await other.remove("a.b", "own")
            try await other.remove("a.c@host", "key")
            #expect(changes(follower).map(\.domain) == ["a.c"])
            #expect(changes(follower).map(\.removed) == [["key"]])
            #expect(other.changes.isEmpty)
        }
    }
}
