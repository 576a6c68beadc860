package import DBus
import DefaultsProtocol
import Glibc
import SystemCalls

/// The way to the daemon without the bus: its socket in the user's runtime directory.
///
/// The daemon there may serve another bus than this program's, as in a test with its own bus. So it
/// is asked first, and only the right one is used.
package enum DirectSocket {
    /// How long a daemon may take to say which bus it serves, before the bus is used.
    ///
    /// A daemon that is being started takes some hundredths of a second.
    package static let patience = Duration.milliseconds(300)

    /// Connects to whatever daemon listens; nil if none does.
    ///
    /// To be called on the loop's thread. A service manager may start the daemon for it.
    package static func connect(on loop: EventLoop) -> Connection? {
        guard let directory = getenv("XDG_RUNTIME_DIR").map({ String(cString: $0) }),
            directory.hasPrefix("/")
        else { return nil }
        let path = "\(directory)/defaultsd/direct"
        // In a runtime directory that is shared, another user may have been first.
        guard access(path, R_OK | W_OK) == 0, FileStatus.ifAny(path)?.owner == geteuid() else {
            return nil
        }
        // A daemon that has no room for another connection is stopped, and the bus knows more.
        guard let place = UnixSocketAddress(path: path),
            let socket = try? UnixSocket.connect(to: place)
        else { return nil }
        return try? Connection(calling: socket, on: loop)
    }

    /// Whether a daemon that serves a bus is the one for a program.
    ///
    /// - Parameters:
    ///   - served: The property `BusAddress` of the daemon.
    ///   - bus: The bus of the program.
    package static func leads(to served: String, for bus: Address) -> Bool {
        switch bus {
        case .session: served == Address.ofSessionBus
        case .address(let address): served == Address.withoutIdentifiers(address)
        case .system, .socket, .peer: false
        }
    }

    /// Connects to the daemon that serves a bus.
    ///
    /// - Returns: Nil if there is none, or if it does not let this program in.
    package static func connect(to bus: Address, on loop: EventLoop) async -> Connection? {
        let opened = await withCheckedContinuation { continuation in
            loop.perform { continuation.resume(returning: connect(on: loop)) }
        }
        guard let opened else { return nil }
        if let served = try? await opened.call(Contract.GetBusAddress.self, (), timeout: patience),
            leads(to: served, for: bus)
        {
            return opened
        }
        await opened.close()
        return nil
    }
}
