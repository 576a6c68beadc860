import Foundation
import Glibc
import SystemCalls
import TestSupport
import TestTiers
import Testing

@testable import DBus

/// Buses that are opened while the loop goes on.
@Suite(.startsPrograms) struct OpeningTests {
    let session: PrivateSession

    init() throws { session = try PrivateSession() }

    private func open(_ address: Address) async throws -> Connection {
        try await Connection.open(address, within: HangGuard.limit, on: session.loop)
    }

    @Test func `It gives the connection a name, and carries calls and signals`() async throws {
        let opened = try await open(.socket(session.bus.address))
        let other = try await session.connectApart()
        #expect(opened.name.hasPrefix(":1."))
        #expect(try await other.hasOwner(of: try BusName(opened.name)))
        var signals = try await opened.signals(
            MatchRule(interface: "a.Clock"), limit: 1
        ).makeAsyncIterator()
        try await other.emit("/", "a.Clock", "Ticked")
        guard case .signal(let signal)? = await signals.next() else {
            Issue.record("The signal is missing.")
            return
        }
        #expect(signal.sender == other.uniqueName)
        #expect(await opened.carriesDescriptors)
    }

    @Test func `While a bus is stopped the loop does other work, and then the bus is opened`()
        async throws
    {
        let loop = session.loop
        kill(session.bus.processIdentifier, SIGSTOP)
        async let opened = open(.address(session.bus.address))
        for _ in 1...3 {
            await withCheckedContinuation { continuation in
                loop.perform { loop.schedule(after: .milliseconds(1)) { continuation.resume() } }
            }
        }
        kill(session.bus.processIdentifier, SIGCONT)
        #expect(try await opened.name.hasPrefix(":1."))
    }

    @Test func `A bus that ends before it has answered is an error`() async throws {
        let bus = session.bus
        kill(bus.processIdentifier, SIGSTOP)
        let opened = Task { try await open(.address(bus.address)) }
        bus.stop()
        await #expect(throws: DBusError.self) { _ = try await opened.value }
    }

    @Test func `A bus with another identifier than that of the address is an error`() async throws {
        let place = Address.withoutIdentifiers(session.bus.address)
        let other = String(repeating: "0", count: 32)
        let error = await #expect(throws: DBusError.self) {
            try await open(.address("\(place),guid=\(other)"))
        }
        #expect(error?.name == .disconnected)
        #expect(error?.message.contains("has closed the connection without an answer") == true)
    }
}

// MARK: Buses that say nothing

extension OpeningTests {
    @Test func `A bus that says nothing is an error by the limit, which names the bus`()
        async throws
    {
        let silent = try SilentSocket()
        let loop = session.loop
        let error = await #expect(throws: DBusError.self) {
            try await Connection.open(.address(silent.address), within: .seconds(0), on: loop)
        }
        #expect(error?.name == .timeout)
        let start = "The bus at \(silent.address) has not answered within 0 seconds."
        #expect(error?.message.hasPrefix(start) == true, "\(String(describing: error))")
    }

    @Test func `While a bus says nothing other threads open other buses`() async throws {
        let silent = try SilentSocket()
        let opening = Task { try await open(.address(silent.address)) }
        // It waits from now on.
        _ = try await open(.address(session.bus.address))
        #expect(try await session.connectApart().name.hasPrefix(":1."))
        #expect(try await open(.address(session.bus.address)).name.hasPrefix(":1."))
        opening.cancel()
        await #expect(throws: CancellationError.self) { try await opening.value }
        withExtendedLifetime(silent) {}
    }

    @Test func `A bus that lets one in and does not answer the greeting is an error`()
        async throws
    {
        let socket = try ListeningSocket()
        let attempt = Attempt(.address(socket.address), on: session.loop)
        let (greetings, report) = AsyncStream.makeStream(of: Void.self)
        let kept = KeptCall()
        let bus = Interface(
            "org.freedesktop.DBus",
            methods: [
                Method("Hello", out: [Argument("name", "s")]) { call in
                    kept.keep(call)
                    report.yield()
                }
            ])
        let busLoop = try EventLoop.startThread(named: "bus")
        defer { busLoop.stop() }
        let service = try await Connection.open(
            serving: try await socket.accept(), on: busLoop, [bus], at: "/org/freedesktop/DBus")
        for await _ in greetings { break }
        await attempt.expire()
        let error = await attempt.error
        #expect((error as? DBusError)?.name == .timeout, "\(String(describing: error))")
        // It does not stay connected.
        await withCheckedContinuation { continuation in
            service.loop.perform {
                service.assumeIsolated { $0.onDisconnect { continuation.resume() } }
            }
        }
    }

    /// A socket that has no room for another connection, and those that have taken it.
    private func fullSocket() throws -> (socket: SilentSocket, waiting: [FileDescriptor]) {
        let socket = try SilentSocket(room: 1)
        let place = try #require(UnixSocketAddress(path: socket.path))
        var waiting: [FileDescriptor] = []
        let refusal = #expect(throws: SystemError.self) {
            while waiting.count < 100 { waiting.append(try UnixSocket.connect(to: place)) }
        }
        #expect(refusal?.number == EAGAIN)
        return (socket, waiting)
    }

    @Test func `A bus that has no room for another connection is an error by the limit`()
        async throws
    {
        let (socket, waiting) = try fullSocket()
        let attempt = Attempt(.address(socket.address), on: session.loop)
        // The attempt does not stop the loop.
        _ = try await session.connect()
        await attempt.expire()
        let error = await attempt.error
        #expect((error as? DBusError)?.name == .timeout, "\(String(describing: error))")
        withExtendedLifetime((socket, waiting)) {}
    }

    @Test func `A bus that has room again is opened`() async throws {
        let (socket, waiting) = try fullSocket()
        let attempt = Attempt(.address(socket.address), on: session.loop)
        _ = try await session.connect()
        // The next one that it takes is the attempt's.
        socket.endWaiting(waiting.count + 1)
        #expect((await attempt.error as? DBusError)?.name == .disconnected)
    }

    @Test func `An attempt that is cancelled before it begins ends at once`() async throws {
        let address = session.bus.address
        let opening = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await open(.address(address))
        }
        await #expect(throws: CancellationError.self) { try await opening.value }
    }
}

// MARK: Addresses

extension OpeningTests {
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
        let error = await #expect(throws: DBusError.self) { try await open(.socket(address)) }
        #expect(error?.message.contains(words) == true, "\(String(describing: error))")
    }

    @Test(
        arguments: [
            "tcp:host=127.0.0.1,port=1", "unix:path=/\(String(repeating: "x", count: 200))",
            "unix:path=/one,abstract=two", "unheard:of=it",
        ])
    func `What only libdbus can open is an error in its words`(address: String) async throws {
        let error = await #expect(throws: DBusError.self) { try await open(.address(address)) }
        #expect(error?.message.isEmpty == false)
    }

    @Test func `Of several addresses the first with a bus is used`() async throws {
        let address = "tcp:host=127.0.0.1,port=1;unix:path=/nonexistent;\(session.bus.address)"
        #expect(try await open(.socket(address)).name.hasPrefix(":1."))
        #expect(try await open(.address(address)).name.hasPrefix(":1."))
    }

    /// The address of a program that passes everything on to a bus.
    private static func bridge(to address: String) -> String {
        let path = address.firstMatch(of: /unix:path=([^,]+)/)?.1 ?? ""
        let program = """
            import os, socket, sys, threading
            bus = socket.socket(socket.AF_UNIX); bus.connect(sys.argv[1])
            def copy(read, write):
                while part := read(65536): write(part)
                os._exit(0)
            threading.Thread(target=copy, args=(lambda n: os.read(0, n), bus.sendall)).start()
            copy(bus.recv, lambda part: os.write(1, part))
            """
        let words = ["-c", program, String(path)].enumerated().map {
            "argv\($0 + 1)=\(Address.escaped($1))"
        }
        return "unixexec:path=/usr/bin/python3,\(words.joined(separator: ","))"
    }

    @Test func `A bus can be reached by a program that passes everything on`() async {
        // libdbus does not wait for the end of its children, and the runner of tests would.
        await #expect(processExitsWith: .success) {
            let session = try PrivateSession()
            let opened = try await Connection.open(
                .address(Self.bridge(to: session.bus.address)), within: HangGuard.limit,
                on: session.loop)
            #expect(try await opened.hasOwner(of: try BusName(opened.name)))
            await opened.close()
        }
    }

    @Test func `A host of the network that says nothing is an error by the limit`() async throws {
        let listener = try NetworkListener()
        let loop = session.loop
        let error = await #expect(throws: DBusError.self) {
            try await Connection.open(
                .address("tcp:host=127.0.0.1,port=\(listener.port)"), within: .milliseconds(1),
                on: loop)
        }
        #expect(error?.name == .timeout)
        withExtendedLifetime(listener) {}
    }

    @Test func `A process that may not listen opens a bus nevertheless`() async throws {
        let attempt = Attempt(.address(session.bus.address), on: session.loop) { opening in
            opening.connectOver = { _, _, _, _ in
                throw DBusError.systemCall("Listening", error: EACCES)
            }
        }
        #expect(try await attempt.value.name.hasPrefix(":1."))
    }

    @Test func `The bus of the session is where libdbus looks for it`() throws {
        let socket = try SilentSocket()
        let directory = String(socket.path.dropLast("/bus".count))
        func address(_ variables: [String: String]) -> String {
            Address.session { variables[$0] }
        }
        let given = "unix:path=/a;tcp:host=b"
        #expect(
            address(["DBUS_SESSION_BUS_ADDRESS": given, "XDG_RUNTIME_DIR": directory]) == given)
        #expect(address(["XDG_RUNTIME_DIR": directory]) == socket.address)
        #expect(address(["XDG_RUNTIME_DIR": "/nonexistent"]) == "autolaunch:")
        #expect(address([:]) == "autolaunch:")
    }
}

/// An attempt to open a bus that ends when the test says so.
private final class Attempt: Sendable {
    private let opening: Opening
    private let loop: EventLoop
    private let outcomes: AsyncStream<Result<Connection, any Error>>

    init(
        _ address: Address, on loop: EventLoop,
        preparing prepare: @escaping @Sendable (Opening) -> Void = { _ in }
    ) {
        let opening = Opening(of: address, within: HangGuard.limit, on: loop)
        let (outcomes, report) = AsyncStream.makeStream(of: Result<Connection, any Error>.self)
        (self.opening, self.loop, self.outcomes) = (opening, loop, outcomes)
        loop.perform {
            prepare(opening)
            opening.begin { report.yield($0) }
        }
    }

    /// Lets its time be over.
    func expire() async {
        await withCheckedContinuation { continuation in
            loop.perform { [opening] in
                opening.expire()
                continuation.resume()
            }
        }
    }

    var value: Connection {
        get async throws {
            for await outcome in outcomes { return try outcome.get() }
            throw CancellationError()
        }
    }

    var error: (any Error)? {
        get async {
            do {
                _ = try await value
                return nil
            } catch {
                return error
            }
        }
    }
}

/// A call that is never answered; on the loop's thread (`@unchecked Sendable`).
private final class KeptCall: @unchecked Sendable {
    private var call: MethodCall?

    func keep(_ call: sending MethodCall) { self.call = call }
}

/// A socket of the network that takes connections and says nothing.
private final class NetworkListener: Sendable {
    let port: UInt16
    private let descriptor: Int32

    init() throws {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        descriptor = socket(AF_INET, kind, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, size) == 0 && listen(descriptor, 8) == 0
                    && getsockname(descriptor, address, &size) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        guard result else { throw CocoaError(.fileWriteUnknown) }
    }

    deinit { close(descriptor) }
}
