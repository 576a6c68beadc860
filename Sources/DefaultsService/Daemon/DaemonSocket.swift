import DefaultsCore
import DBus
import DefaultsProtocol
import DefaultsStorage
import Glibc
import SystemCalls

// Invariants
//
// 1. A socket that another process listens at is replaced by a daemon only that takes over from
//    another. So a daemon with another database does not take the programs of the first one.
// 2. The file is removed only by the daemon that has made it, and only if it is still that file.

/// The way to the daemon without the bus: the socket `defaultsd/direct` in the user's runtime
/// directory.
///
/// The service manager has opened it, or this opens it.
final class DaemonSocket {
    /// The socket that the service manager has passed.
    private let inherited: FileDescriptor?
    /// The file that this daemon has made.
    private var file: (path: String, identity: FileIdentity)?
    private var listener: PeerListener?

    /// How long a program has to read its replies when the daemon ends.
    static let patience = Duration.seconds(1)
    /// How many programs may be connected, and how many descriptors are left for everything else.
    private static let mostPeers = 2048
    private static let otherDescriptors = 256
    /// How many descriptors are wanted.
    static let descriptors = mostPeers + otherDescriptors

    init(inheriting socket: FileDescriptor?) {
        inherited = socket
    }

    /// Begins to accept programs.
    ///
    /// - Parameters:
    ///   - service: The connection whose objects are served.
    ///   - location: The place of the database, which names the runtime directory.
    ///   - replacesOther: Whether this daemon has taken over from another.
    /// - Throws: `StorageError`, `SystemError` or `DBusError` if there can be no such socket.
    func open(
        for service: Connection, at location: DatabaseLocation, replacingOther replacesOther: Bool
    ) throws {
        let made = try inherited ?? makeSocket(at: location, isForced: replacesOther)
        guard let socket = made else { return }
        listener = try service.assumeIsolated {
            try PeerListener(
                of: $0, on: socket, mostPeers: Self.peerLimit, refusing: Self.refusal(of:))
        }
    }

    /// Why a program may not use the socket; nil if it may.
    private static func refusal(of credentials: PeerCredentials?) -> DBusError? {
        switch CallerAccess(of: credentials, isBusPrivate: false) {
        case .full: nil
        case .confined: DBusError(replying: ContractError.onlyOverBus)
        case .none: DBusError(replying: ContractError.otherUser)
        }
    }

    private func makeSocket(
        at location: DatabaseLocation, isForced: Bool
    ) throws -> FileDescriptor? {
        // In a directory of another user, that one could put its own socket there.
        guard let directory = try location.runtimeFolderPath() else { return nil }
        let path = "\(directory)/direct"
        if !isForced, FileStatus.ifAny(path) != nil, UnixSocket.isListening(at: path) {
            return nil
        }
        guard let address = UnixSocketAddress(path: path) else {
            throw SystemError(call: "listen at", path: path, number: ENAMETOOLONG)
        }
        // The kernel lists a socket by the path at which it was made, so it is not made beside it
        // and renamed. A program that connects meanwhile uses the bus.
        unlink(path)
        let socket = try UnixSocket.listen(at: address)
        file = (path, try FileStatus(of: path).identity)
        return socket
    }

    /// How many programs may be connected.
    private static var peerLimit: Int {
        max(0, min(mostPeers, DescriptorLimit.current - otherDescriptors))
    }

    /// Lets nobody else in, and reads nothing more.
    func stop() {
        if let file, file.identity == FileIdentity(of: file.path) { unlink(file.path) }
        file = nil
        listener?.assumeIsolated { $0.stop() }
    }

    /// The connections, to be closed when everything is written.
    ///
    /// Each program gets the signal `Ending`: the daemon answers no more calls.
    func takeListener() -> PeerListener? {
        defer { listener = nil }
        listener?.assumeIsolated { listener in
            for peer in listener.connections {
                // It cannot be sent to a program that has gone.
                peer.assumeIsolated { try? $0.emitEnding() }
            }
        }
        return listener
    }
}
