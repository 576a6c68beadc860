import DBus
import DefaultsProtocol
import DefaultsTerms
import Glibc
import SystemCalls
import Testing

@testable import DefaultsService

/// How many domains programs may follow.
struct FollowersTests {
    private let loop: EventLoop
    private let names = (0..<ContractLimits.maximumAttachedDomains).map { "org.example.D\($0)" }

    init() throws {
        loop = try EventLoop.startThread(named: "followers", isInOwnProcess: true)
    }

    private func connect() async throws -> Connection {
        var ends: [Int32] = [-1, -1]
        try #require(
            socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        close(ends[1])
        return try await Connection.open(calling: FileDescriptor(owning: ends[0]), on: loop)
    }

    @Test func `A process follows a limited number of domains over all its connections`()
        async throws
    {
        var followers = Followers()
        var connections: [Connection] = []
        let most = ContractLimits.maximumFollowedDomains / ContractLimits.maximumAttachedDomains
        for _ in 0..<most {
            let connection = try await connect()
            #expect(try followers.add(names, for: connection, of: 7, gettingValues: true))
            connections.append(connection)
        }
        let last = try await connect()
        #expect(throws: ContractError.tooManyFollowed) {
            try followers.add(["a.b"], for: last, of: 7, gettingValues: true)
        }
        // What it follows already costs nothing more.
        #expect(try !followers.add(names, for: connections[0], of: 7, gettingValues: false))
        // Another process is not affected, and neither is one whose number is not known.
        #expect(try followers.add(names, for: try await connect(), of: 8, gettingValues: true))
        #expect(try followers.add(names, for: try await connect(), of: nil, gettingValues: true))
        // There is room when one of its connections has ended, or follows less.
        followers.remove(["org.example.D1", "not.followed"], of: ObjectIdentifier(connections[0]))
        #expect(try followers.add(["a.b"], for: last, of: 7, gettingValues: true))
        #expect(throws: ContractError.tooManyFollowed) {
            try followers.add(["a.c"], for: last, of: 7, gettingValues: true)
        }
        followers.forget(ObjectIdentifier(connections[1]))
        // It follows one more already, and so not all of them.
        #expect(throws: ContractError.tooManyDomains) {
            try followers.add(names, for: last, of: 7, gettingValues: true)
        }
        #expect(try !followers.add(Array(names.dropLast()), for: last, of: 7, gettingValues: true))
    }

    @Test func `A connection follows a limited number of domains`() async throws {
        var followers = Followers()
        let connection = try await connect()
        #expect(try followers.add(names, for: connection, of: 7, gettingValues: true))
        #expect(throws: ContractError.tooManyDomains) {
            try followers.add(["a.b"], for: connection, of: 7, gettingValues: true)
        }
    }
}
