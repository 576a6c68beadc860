import Foundation
import Glibc
import SystemCalls
import TestSupport
import TestTiers
import Testing

@testable import DBus

/// A bus that is joined while the loop goes on.
@Suite(.startsPrograms) struct JoiningTests {
    let session: PrivateSession

    init() throws { session = try PrivateSession() }

    @Test func `It gives the connection a name, and carries calls and signals`() async throws {
        let joined = try await Connection.joining(busAt: session.bus.address, on: session.loop)
        let other = try await session.connectApart()
        #expect(joined.name.hasPrefix(":1."))
        #expect(try await other.hasOwner(of: try BusName(joined.name)))
        var signals = try await joined.signals(
            MatchRule(interface: "a.Clock"), limit: 1
        ).makeAsyncIterator()
        try await other.emit("/", "a.Clock", "Ticked")
        guard case .signal(let signal)? = await signals.next() else {
            Issue.record("The signal is missing.")
            return
        }
        #expect(signal.sender == other.uniqueName)
    }

    @Test func `While a bus is stopped the loop does other work, and then the bus is joined`()
        async throws
    {
        let (loop, address) = (session.loop, session.bus.address)
        kill(session.bus.processIdentifier, SIGSTOP)
        async let joined = Connection.joining(busAt: address, on: loop)
        for _ in 1...3 {
            await withCheckedContinuation { continuation in
                loop.perform { loop.schedule(after: .milliseconds(1)) { continuation.resume() } }
            }
        }
        kill(session.bus.processIdentifier, SIGCONT)
        #expect(try await joined.name.hasPrefix(":1."))
    }

    @Test func `A bus that ends before it has answered is an error`() async throws {
        let (loop, address) = (session.loop, session.bus.address)
        kill(session.bus.processIdentifier, SIGSTOP)
        let joined = Task { try await Connection.joining(busAt: address, on: loop) }
        session.bus.stop()
        await #expect(throws: DBusError.self) { _ = try await joined.value }
    }

    @Test func `A bus that accepts no connections now is an error`() async throws {
        let socket = try ListeningSocket()
        // It has room for some, and nobody takes them.
        var waiting: [FileDescriptor] = []
        let refusal = #expect(throws: DBusError.self) {
            while waiting.count < 100 {
                waiting.append(try BusSocket.connect(to: socket.address))
            }
        }
        #expect(refusal?.message.contains("temporarily unavailable") == true)
        await #expect(throws: DBusError.self) {
            try await Connection.joining(busAt: socket.address, on: session.loop)
        }
    }

    @Test(
        arguments: [
            ("unix:path=/nonexistent/bus", "/nonexistent/bus"),
            ("unix:abstract=there-is-no-such-bus", "@there-is-no-such-bus"),
            ("tcp:host=localhost,port=1", "names no Unix socket"),
            ("unix:path=/\(String(repeating: "x", count: 200))", "names no Unix socket"),
            ("", "Empty address"), ("nonsense", "does not contain a colon"),
        ])
    func `A missing bus at an address is an error that says so`(address: String, words: String)
        async throws
    {
        let error = await #expect(throws: DBusError.self) {
            try await Connection.joining(busAt: address, on: session.loop)
        }
        #expect(error?.message.contains(words) == true, "\(String(describing: error))")
    }

    @Test func `Of several addresses the first with a bus is used`() async throws {
        let address = "tcp:host=localhost,port=1;unix:path=/nonexistent;\(session.bus.address)"
        let joined = try await Connection.joining(busAt: address, on: session.loop)
        #expect(joined.name.hasPrefix(":1."))
    }
}
