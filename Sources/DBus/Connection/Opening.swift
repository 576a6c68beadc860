import CDBus
import Glibc
import SystemCalls

// Invariants
//
// 1. Everything happens on the loop's thread, and nothing waits there. What libdbus can only do by
//    waiting has a thread of its own.
// 2. The completion is called once.
// 3. One limit is for all of it: room in the queue of the socket, authentication and the answer to
//    the greeting.
// 4. The greeting is an ordinary call. `dbus_bus_register` waits for the answer with a lock that
//    every connection of the process to a bus needs, those of other libraries too.

/// One attempt to connect to a bus and to greet it, or to connect to a peer.
///
/// Used on the loop's thread only (`@unchecked Sendable`).
final class Opening: @unchecked Sendable {
    /// How long until a socket whose queue is full is tried again: nothing tells when there is room.
    private static let pause = Duration.milliseconds(20)

    private let address: Address
    private let limit: Duration
    private let loop: EventLoop
    private var completion: ((Result<Connection, any Error>) -> Void)?
    private var isCancelled = false
    private var limitTimer: EventLoop.Timer?
    private var pauseTimer: EventLoop.Timer?
    /// The places that are not tried yet.
    private var places: ArraySlice<Place> = []
    /// Why the first place that does not work does not.
    private var failure: DBusError?
    /// Whether a place has no room at the moment.
    private var isBusy = false
    /// The connection, which waits for the answer to the greeting.
    private var connection: Connection?

    /// Makes a connection over a socket that is connected to a place.
    ///
    /// A test can make it fail.
    var connectOver: (FileDescriptor, Place, Bool, EventLoop) throws -> Link = {
        try Link(over: $0, to: $1, isDirect: $2, on: $3)
    }

    init(of address: Address, within limit: Duration, on loop: EventLoop) {
        self.address = address
        self.limit = limit
        self.loop = loop
    }

    func begin(_ completion: @escaping (Result<Connection, any Error>) -> Void) {
        loop.preconditionOnLoop("a connection was opened")
        guard !isCancelled else { return completion(.failure(CancellationError())) }
        self.completion = completion
        limitTimer = loop.schedule(after: limit) { [self] in
            // What has come meanwhile is read first: this process may have been stopped.
            limitTimer = loop.schedule(after: .zero) { self.expire() }
        }
        tryAll()
    }

    /// Gives up.
    func expire() {
        end(.failure(DBusError.silent(address, after: limit)))
    }

    /// Ends it with a `CancellationError`, unless it has ended.
    func cancel() {
        isCancelled = true
        end(.failure(CancellationError()))
    }

    private func end(_ result: Result<Connection, any Error>) {
        guard let completion else { return }
        self.completion = nil
        limitTimer?.cancel()
        pauseTimer?.cancel()
        let connection = connection.take()
        if case .failure = result { connection?.assumeIsolated { $0.close() } }
        completion(result)
    }
}

/// The places of the address.
extension Opening {
    private func tryAll() {
        do {
            places = try address.places()[...]
            (failure, isBusy) = (nil, false)
            tryNext()
        } catch {
            end(.failure(error))
        }
    }

    private func tryNext() {
        guard let place = places.popFirst() else { return noneIsLeft() }
        guard let address = place.socket else { return openApart(place) }
        do throws(SystemError) {
            connect(over: try UnixSocket.connect(to: address), to: place)
        } catch {
            guard error.number != EAGAIN else {
                isBusy = true
                return tryNext()
            }
            failed(.systemCall("Connecting to \(address.name)", error: error.number))
        }
    }

    private func failed(_ error: DBusError) {
        if failure == nil { failure = error }
        tryNext()
    }

    private func noneIsLeft() {
        guard isBusy else { return end(.failure(failure ?? .noMemory)) }
        pauseTimer = loop.schedule(after: Self.pause) { [self] in tryAll() }
    }

    private func connect(over socket: FileDescriptor, to place: Place) {
        do {
            greet(over: try connectOver(socket, place, address.isPeer, loop))
        } catch {
            // A sandbox may forbid what that needs. libdbus needs only its own socket.
            openApart(place)
        }
    }

    /// Opens a place on another thread, because libdbus may wait there: for a host of the network, or
    /// for a program that it starts.
    private func openApart(_ place: Place) {
        do {
            let apart = try EventLoop.startThread(named: "dbus-opening")
            apart.perform { [self] in
                let opened = OpenedLink(place.text)
                loop.perform { self.take(opened) }
                apart.stop()
            }
        } catch {
            failed(error)
        }
    }

    private func take(_ opened: OpenedLink) {
        switch opened.result {
        case .success(let pointer) where completion == nil:
            dbus_connection_close(pointer)
            dbus_connection_unref(pointer)
        case .success(let pointer):
            greet(over: Link(owning: pointer, isDirect: address.isPeer, on: loop))
        case .failure where completion == nil: break
        case .failure(let error): failed(error)
        }
    }
}

/// What libdbus has opened on another thread, which does not use it any more (`@unchecked Sendable`).
private struct OpenedLink: @unchecked Sendable {
    let result: Result<OpaquePointer, DBusError>

    init(_ address: String) {
        result = Result { () throws(DBusError) in try Link.open(waitingAt: address) }
    }
}

/// The greeting.
extension Opening {
    private func greet(over link: Link) {
        // The link stays on this thread.
        nonisolated(unsafe) let link = link
        do {
            let connection = try Connection(link)
            guard !address.isPeer else { return end(.success(connection)) }
            self.connection = connection
            connection.assumeIsolated { connection in
                connection.greetBus { self.end(self.outcome(of: $0, on: connection)) }
            }
        } catch {
            end(.failure(error))
        }
    }

    private func outcome(
        of greeting: Result<Void, any Error>, on connection: Connection
    ) -> Result<Connection, any Error> {
        switch greeting {
        case .success: .success(connection)
        case .failure(let error as DBusError) where error.name == .disconnected:
            .failure(DBusError.hangUp(of: address))
        case .failure(let error): .failure(error)
        }
    }
}

extension Connection {
    fileprivate func greetBus(_ completion: @escaping (Result<Void, any Error>) -> Void) {
        call(
            .bus, "/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello", timeout: nil,
            write: { _ in },
            read: { reader in self.take(uniqueName: try BusName(try reader.readString())) },
            completion: completion)
    }
}

/// The ways to open a connection.
extension Connection {
    /// How long a bus may take to answer, if the caller sets no limit.
    package static let openingLimit = Duration.seconds(10)

    /// Connects to a bus and greets it, or connects to a peer, while the loop goes on with other work.
    ///
    /// - Parameters:
    ///   - address: The address. The first of its places that takes a connection is used.
    ///   - limit: How long a bus may take until it has answered. A peer has to answer nothing yet.
    ///   - loop: The loop, which runs on this thread or another.
    /// - Throws: ``DBusError``, of the name `Timeout` if the bus has not answered within the limit, of
    ///   the name `Disconnected` if it ends before it has answered, of the name `IOError` or the like
    ///   if there is no bus at the address, of the name `BadAddress` if it is not one;
    ///   `CancellationError` if the task is cancelled.
    package static func open(
        _ address: Address, within limit: Duration = openingLimit, on loop: EventLoop
    ) async throws -> Connection {
        let opening = Opening(of: address, within: limit, on: loop)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                loop.perform { opening.begin { continuation.resume(with: $0) } }
            }
        } onCancel: {
            loop.perform { opening.cancel() }
        }
    }

    /// Does the same for code that lives on the loop.
    ///
    /// - Parameter completion: Called once, on the loop's thread; at once if nothing can be opened.
    package static func open(
        _ address: Address, within limit: Duration = openingLimit, on loop: EventLoop,
        completion: @escaping (Result<Connection, any Error>) -> Void
    ) {
        Opening(of: address, within: limit, on: loop).begin(completion)
    }
}
