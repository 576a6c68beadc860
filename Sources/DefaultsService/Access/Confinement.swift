import DBus
import Glibc

/// Whether a caller runs in a sandbox.
///
/// Whoever has another root directory than this process is taken to be in one: Flatpak's,
/// bubblewrap's, a container's. So is a snap, by its label, and whoever cannot be looked at.
enum Confinement {
    static func holds(_ credentials: PeerCredentials?) -> Bool {
        guard let credentials, let process = credentials.processID else { return true }
        if credentials.securityLabel?.hasPrefix("snap.") == true { return true }
        guard let own = Root(at: "/"), let other = Root(at: "/proc/\(process)/root/") else {
            return true
        }
        return own != other
    }

    /// A root directory, told from every other.
    private struct Root: Equatable {
        private let device: dev_t
        private let node: ino_t

        init?(at path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            device = status.st_dev
            node = status.st_ino
        }
    }
}
