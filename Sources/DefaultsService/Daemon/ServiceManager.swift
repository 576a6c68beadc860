import CLinux
import Glibc

/// Reports the state of this process to the service manager that started it.
///
/// The protocol is a datagram to the socket in `NOTIFY_SOCKET`. systemd promises to keep it stable.
/// The daemon does not use libsystemd, which would need memory in every user's session.
/// See <https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html>.
enum ServiceManager {
    /// The start is complete.
    ///
    /// `systemctl --user status` shows `status`.
    static func notifyReady(status: String) {
        notify("READY=1\nSTATUS=\(status)")
    }

    /// The start continues and takes long.
    ///
    /// The manager waits another minute.
    static func notifyProgress(_ status: String) {
        notify("EXTEND_TIMEOUT_USEC=60000000\nSTATUS=\(status)")
    }

    /// The daemon has begun to end.
    ///
    /// - Parameter reason: Why the service cannot continue. `systemctl --user status` shows this,
    ///   and clients repeat it to their users. Nil for an ordinary end.
    static func notifyStopping(because reason: String? = nil) {
        let reason = reason?.split(whereSeparator: \.isNewline).joined(separator: " ")
        notify("STOPPING=1\nSTATUS=\(reason ?? "Writing the last changes to disk")")
    }

    // MARK: Descriptors

    /// Whether the manager keeps descriptors for the next process of the service when this one is
    /// killed.
    ///
    /// systemd has set `FDSTORE` since version 254. Our unit sets it for earlier versions.
    static var keepsDescriptors: Bool {
        guard getenv("NOTIFY_SOCKET") != nil, let bound = getenv("FDSTORE") else { return false }
        return (Int32(String(cString: bound)) ?? 0) > 0
    }

    /// Gives a duplicate of a descriptor to the manager.
    ///
    /// It replaces an earlier one of the same name.
    ///
    /// - Returns: Whether it was sent.
    static func keep(_ descriptor: Int32, named name: String) -> Bool {
        notify("FDSTOREREMOVE=1\nFDNAME=\(name)")
            && notify("FDSTORE=1\nFDNAME=\(name)", descriptor)
    }

    /// Takes the descriptor that the manager has kept under a name.
    ///
    /// The caller owns it. All other kept descriptors are closed.
    ///
    /// Call this once, before any other descriptor is opened. The protocol is that of
    /// <https://www.freedesktop.org/software/systemd/man/latest/sd_listen_fds.html>.
    static func takeDescriptor(named name: String) -> Int32? {
        defer {
            for variable in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsetenv(variable) }
        }
        guard variable("LISTEN_PID").flatMap({ pid_t($0) }) == getpid(),
            let count = variable("LISTEN_FDS").flatMap({ Int32($0) }), count > 0
        else { return nil }
        let names = (variable("LISTEN_FDNAMES") ?? "").split(
            separator: ":", omittingEmptySubsequences: false)
        var found: Int32?
        // The first descriptor after standard error.
        for (descriptor, given) in zip(Int32(3)..., names.prefix(Int(count))) {
            if given == name, found == nil, fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 {
                found = descriptor
            } else {
                close(descriptor)
            }
        }
        return found
    }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    // MARK: The socket

    /// Sends a datagram to the manager, if there is one.
    ///
    /// The service continues if this fails.
    ///
    /// - Parameter descriptor: A descriptor to send with it; -1 for none.
    /// - Returns: Whether it was sent.
    @discardableResult
    private static func notify(_ state: String, _ descriptor: Int32 = -1) -> Bool {
        guard let path = variable("NOTIFY_SOCKET"), var address = socketAddress(path) else {
            return false
        }
        let socket = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { return false }
        defer { close(socket) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + path.utf8.count)
        let bytes = Array(state.utf8)
        return clinux_send(socket, &address, length, bytes, bytes.count, descriptor) == bytes.count
    }

    /// A path, or a name in the abstract namespace if it begins with `@`.
    private static func socketAddress(_ path: String) -> sockaddr_un? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(path.utf8)
        guard let first = bytes.first, bytes.count < MemoryLayout.size(ofValue: address.sun_path)
        else { return nil }
        if first == UInt8(ascii: "@") { bytes[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return address
    }
}
