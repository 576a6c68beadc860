import DBus
import DefaultsProtocol
import DefaultsTerms
import Glibc
import SystemCalls
import Testing

@testable import DefaultsService
@testable import ServiceHarness

/// How many domains programs may follow.
struct FollowersTests {
    private let loop: EventLoop
    private let names = (0..<ContractLimits.maximumAttachedDomains).map { "org.example.D\($0)" }

    init() throws {
        loop = try EventLoop.startThread(named: "followers", isInOwnProcess: true)
    }

    /// Connections, and their other ends, which have to stay open.
    private func connect(_ count: Int) async throws -> ([Connection], peers: [FileDescriptor]) {
        var (connections, peers): ([Connection], [FileDescriptor]) = ([], [])
        for _ in 0..<count {
            var ends: [Int32] = [-1, -1]
            try #require(
                socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
                    == 0)
            peers.append(FileDescriptor(owning: ends[1]))
            connections.append(
                try await Connection.open(calling: FileDescriptor(owning: ends[0]), on: loop))
        }
        return (connections, peers)
    }

    /// Whether something is refused, and why.
    private static func refusal(of change: () throws -> Void) -> ContractError? {
        do { try change() } catch { return error as? ContractError }
        return nil
    }

    @Test func `A process follows a limited number of domains over all its connections`()
        async throws
    {
        let most = ContractLimits.maximumFollowedDomains / ContractLimits.maximumAttachedDomains
        let (connections, peers) = try await connect(most + 3)
        let refusals = try await loop.run { [names] in
            let followers = Followers()
            let (own, last) = (connections.prefix(most), connections[most])
            var refusals: [ContractError?] = []
            for connection in own {
                try followers.add(names, for: connection, of: 7, gettingValues: true)
            }
            refusals.append(
                Self.refusal { try followers.add(["a.b"], for: last, of: 7, gettingValues: true) })
            // What it follows already costs nothing more.
            try followers.add(names, for: own[0], of: 7, gettingValues: false)
            // Another process is not affected, and neither is one whose number is not known.
            try followers.add(names, for: connections[most + 1], of: 8, gettingValues: true)
            try followers.add(names, for: connections[most + 2], of: nil, gettingValues: true)
            // There is room when one of its connections has ended, or follows less.
            followers.remove(["org.example.D1", "not.followed"], of: ObjectIdentifier(own[0]))
            try followers.add(["a.b"], for: last, of: 7, gettingValues: true)
            refusals.append(
                Self.refusal { try followers.add(["a.c"], for: last, of: 7, gettingValues: true) })
            followers.forget(ObjectIdentifier(own[1]))
            // It follows one more already, and so not all of them.
            refusals.append(
                Self.refusal { try followers.add(names, for: last, of: 7, gettingValues: true) })
            try followers.add(Array(names.dropLast()), for: last, of: 7, gettingValues: true)
            return refusals
        }
        #expect(refusals == [.tooManyFollowed, .tooManyFollowed, .tooManyDomains])
        withExtendedLifetime(peers) {}
    }

    @Test func `A connection follows a limited number of domains`() async throws {
        let (connections, peers) = try await connect(1)
        let refusal = try await loop.run { [names] in
            let followers = Followers()
            try followers.add(names, for: connections[0], of: 7, gettingValues: true)
            return Self.refusal {
                try followers.add(["a.b"], for: connections[0], of: 7, gettingValues: true)
            }
        }
        #expect(refusal == .tooManyDomains)
        withExtendedLifetime(peers) {}
    }
}
