import DBus
import Glibc

/// Why the daemon cannot serve, with the sentence that it ends with.
package struct LifeCycleError: Error, CustomStringConvertible {
    /// The sentence.
    package let description: String

    static let nameTaken = LifeCycleError(
        description:
            "The service runs already: another process owns org.defaultsd.Defaults1 on this "
            + "bus. Nothing has to be started.")

    static let ownerSilent = LifeCycleError(
        description:
            "Cannot take over: the process that owns org.defaultsd.Defaults1 on this bus does not "
            + "answer. End it ('systemctl --user kill defaultsd.service', or by its number, which "
            + "'busctl --user status org.defaultsd.Defaults1' says), then start again.")

    /// - Parameter reason: What the one that has the name says.
    static func handOverRefused(_ reason: String) -> LifeCycleError {
        LifeCycleError(
            description:
                "Cannot take over: another process owns org.defaultsd.Defaults1 on this bus "
                + "and keeps it. It says: \(reason)")
    }

    /// - Parameter cause: What libdbus says of a bus, and this program of a peer.
    static func nobodyToServe(
        _ callers: DaemonOptions.Callers, _ cause: DBusError
    ) -> LifeCycleError {
        switch callers {
        case .bus, .busReplacingOther:
            LifeCycleError(
                description: "There is no session bus to serve on: \(cause.message). Start one, or "
                    + "see that DBUS_SESSION_BUS_ADDRESS names it.")
        case .peer: LifeCycleError(description: cause.message)
        }
    }

    static let notAPeer = LifeCycleError(
        description: "The other end of the socket has closed it, or has sent what is not D-Bus, "
            + "before it was connected. Connect to it with a D-Bus library.")

    static func signals(errno: Int32) -> LifeCycleError {
        LifeCycleError(description: "Cannot receive signals: \(String(cString: strerror(errno))).")
    }
}
