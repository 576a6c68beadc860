import Glibc
import SystemCalls

/// Reports the state of this process to the service manager that started it.
///
/// The protocol is a datagram to the socket in `NOTIFY_SOCKET`. systemd promises to keep it stable.
/// The services do not use libsystemd, which would need memory in every user's session.
/// See <https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html>.
package enum ServiceManager {
    /// The start is complete.
    ///
    /// `systemctl --user status` shows `status`.
    package static func notifyReady(status: String) {
        notify("READY=1\nSTATUS=\(oneLine(status))")
    }

    /// The service has changed its state.
    ///
    /// This does not wait for a manager that hangs: the next flush tells it again.
    ///
    /// - Parameter status: The state in a line.
    package static func notify(status: String) {
        notify("STATUS=\(oneLine(status))", waiting: false)
    }

    /// Whether there is a manager to tell.
    package static var isThere: Bool { getenv("NOTIFY_SOCKET") != nil }

    private static func oneLine(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    /// The start continues and takes long.
    ///
    /// The manager waits another minute.
    package static func notifyProgress(_ status: String) {
        notify("EXTEND_TIMEOUT_USEC=60000000\nSTATUS=\(oneLine(status))")
    }

    /// The service has begun to end.
    ///
    /// - Parameter reason: Why it ends, or what it does until then. `systemctl --user status` shows
    ///   this, and clients repeat it to their users.
    package static func notifyStopping(because reason: String) {
        notify("STOPPING=1\nSTATUS=\(oneLine(reason))")
    }

    // MARK: Descriptors

    /// Whether the manager keeps descriptors for the next process of the service when this one is
    /// killed.
    ///
    /// systemd has set `FDSTORE` since version 254. Our unit sets it for earlier versions.
    package static var keepsDescriptors: Bool {
        guard getenv("NOTIFY_SOCKET") != nil, let bound = getenv("FDSTORE") else { return false }
        return (Int32(String(cString: bound)) ?? 0) > 0
    }

    /// Gives a duplicate of a descriptor to the manager.
    ///
    /// It replaces an earlier one of the same name.
    ///
    /// - Returns: Whether it was sent.
    package static func keep(_ descriptor: Int32, named name: String) -> Bool {
        notify("FDSTOREREMOVE=1\nFDNAME=\(name)")
            && notify("FDSTORE=1\nFDNAME=\(name)", descriptor)
    }

    /// Takes the descriptors that the manager has passed, by their names.
    ///
    /// The caller owns them. Those with other names are closed.
    ///
    /// Call this once, before any other descriptor is opened. The protocol is that of
    /// <https://www.freedesktop.org/software/systemd/man/latest/sd_listen_fds.html>.
    package static func takeDescriptors(named names: Set<String>) -> [String: Int32] {
        defer {
            for variable in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsetenv(variable) }
        }
        guard variable("LISTEN_PID").flatMap({ pid_t($0) }) == getpid(),
            let count = variable("LISTEN_FDS").flatMap({ Int32($0) }), count > 0
        else { return [:] }
        let given = (variable("LISTEN_FDNAMES") ?? "").split(
            separator: ":", omittingEmptySubsequences: false)
        var taken: [String: Int32] = [:]
        // The first descriptor after standard error.
        for (number, name) in zip(Int32(3)..., given.prefix(Int(count)).map(String.init)) {
            if names.contains(name), taken[name] == nil, fcntl(number, F_SETFD, FD_CLOEXEC) == 0 {
                taken[name] = number
            } else {
                close(number)
            }
        }
        return taken
    }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    // MARK: The socket

    /// Sends a datagram to the manager, if there is one.
    ///
    /// The service continues if this fails.
    ///
    /// - Parameters:
    ///   - state: What is new, in lines of a name and a value.
    ///   - descriptor: A descriptor to send with it; -1 for none.
    ///   - waits: Whether to wait while the manager's queue is full.
    /// - Returns: Whether it was sent.
    @discardableResult
    private static func notify(
        _ state: String, _ descriptor: Int32 = -1, waiting waits: Bool = true
    ) -> Bool {
        guard let path = variable("NOTIFY_SOCKET"),
            // A name in the abstract namespace begins with `@`.
            let address = path.hasPrefix("@")
                ? UnixSocketAddress(abstract: String(path.dropFirst()))
                : UnixSocketAddress(path: path)
        else { return false }
        return address.send(Array(state.utf8), with: descriptor, waiting: waits)
    }
}
