import Glibc

/// The service manager that started this process, told of its state.
///
/// The protocol is a datagram to the socket that `NOTIFY_SOCKET` names, and stable by systemd's
/// own promise; libsystemd would be one more library in every user's memory for it.
/// See <https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html>.
enum ServiceManager {
    /// Start-up is done; `status` is what `systemctl --user status` shows.
    static func notifyReady(status: String) {
        notify("READY=1\nSTATUS=\(status)")
    }

    /// Start-up goes on and takes long; the manager waits for another minute.
    static func notifyProgress(_ status: String) {
        notify("EXTEND_TIMEOUT_USEC=60000000\nSTATUS=\(status)")
    }

    /// The end has begun.
    ///
    /// - Parameter reason: Why the service cannot go on, which `systemctl --user status` shows and clients
    ///   repeat to their users; nil for an ordinary end.
    static func notifyStopping(because reason: String? = nil) {
        let reason = reason?.split(whereSeparator: \.isNewline).joined(separator: " ")
        notify("STOPPING=1\nSTATUS=\(reason ?? "Writing the last changes to disk")")
    }

    /// Nobody is told where no manager asked to be; a datagram that is refused changes nothing
    /// for the service, so its failure is not looked at.
    private static func notify(_ state: String) {
        guard let path = getenv("NOTIFY_SOCKET").map({ String(cString: $0) }),
            var address = socketAddress(path)
        else { return }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + path.utf8.count)
        var bytes = Array(state.utf8)
        // The socket API takes any family's address through the type of none of them.
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = sendto(descriptor, &bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
    }

    /// A path, or with a leading `@` a name in the abstract namespace.
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
