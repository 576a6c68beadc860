import DBus
import Glibc

/// Who may call the roaming service: the user's own programs outside of sandboxes.
///
/// The status has the names of domains and keys of all applications, and the other calls change what
/// roams for all of them. The rules are those of the daemon for what shows or changes the service as a
/// whole, and an unknown caller is refused.
enum RoamCallers {
    /// Why a caller may not call; nil if it may.
    static func refusal(of credentials: PeerCredentials?) -> DBusError? {
        guard let credentials, credentials.userID == geteuid() else {
            return DBusError(denied, "Roaming is for programs of its own user.")
        }
        let isSnap = credentials.securityLabel?.hasPrefix("snap.") == true
        guard !isSnap, credentials.application == nil, credentials.isAtHome else {
            return DBusError(denied, "Roaming is not for programs in a sandbox.")
        }
        return nil
    }

    private static let denied: ErrorName = "org.freedesktop.DBus.Error.AccessDenied"
}
