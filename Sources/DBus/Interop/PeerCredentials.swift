import SystemCalls

/// The identity of the other end, which the kernel recorded when the connection was made.
///
/// See the [specification][1].
///
/// [1]: https://dbus.freedesktop.org/doc/dbus-specification.html#bus-messages-get-connection-credentials
package struct PeerCredentials: Sendable, Hashable {
    /// The user; nil if unknown, as over TCP.
    package let userID: UInt32?

    /// The process; nil if unknown, as in another PID namespace.
    ///
    /// It may have ended, and another process may have its number.
    package let processID: UInt32?

    /// The label of the security module, such as AppArmor or SELinux.
    ///
    /// Nil without such a module, and on a connection without a bus.
    package let securityLabel: String?

    /// Where the process lived before its first call.
    ///
    /// Nil if it had already ended, or could not be examined.
    package internal(set) var place: ProcessPlace?

    /// Whether that place is our own or that of the bus.
    ///
    /// The bus lives where its session is. This process may live elsewhere, because a service
    /// manager can give it its own mounts.
    package internal(set) var isAtHome = false

    /// The ID of the sandboxed application to which the process belongs, such as `org.example.App` or
    /// `snap.example`; see ``SandboxedApplication``.
    ///
    /// Nil if it is in no sandbox, or in one without a proven name.
    package internal(set) var application: String?

    /// Makes credentials from known values.
    ///
    /// - Parameter flatpak: The ID of the Flatpak app to which the process belongs, if that is proven.
    package init(
        userID: UInt32?, processID: UInt32?, securityLabel: String? = nil,
        place: ProcessPlace? = nil, flatpak: String? = nil
    ) {
        self.userID = userID
        self.processID = processID
        self.securityLabel = securityLabel
        self.place = place
        application = SandboxedApplication.id(label: securityLabel, flatpak: flatpak)
    }

    /// Forgets what was found out about the process, because it may be another one than connected.
    ///
    /// The label is that of the process which connected.
    mutating func forgetProcess() {
        place = nil
        application = SandboxedApplication.id(label: securityLabel, flatpak: nil)
    }
}

extension PeerCredentials {
    /// What the bus says about a connection, and what was found out about its process.
    struct Answer {
        var credentials: PeerCredentials
        /// Whether the process is certain to be the one that connected.
        ///
        /// Then the bus has passed a reference to it. Without one, the process is the one that has
        /// the number now.
        let isProcessCertain: Bool
    }
}

extension PeerCredentials.Answer {
    /// Reads the answer of the bus.
    ///
    /// Later versions of the bus may add fields.
    ///
    /// - Parameter examiner: Finds out who the process is.
    init(reading reader: inout MessageReader, by examiner: ProcessExaminer) throws {
        var (userID, processID): (UInt32?, UInt32?)
        var securityLabel: String?
        var reference: FileDescriptor?
        try reader.readEntries { key, type, value in
            switch (key, type.string) {
            case ("UnixUserID", "u"): userID = try value.readUInt32()
            case ("ProcessID", "u"): processID = try value.readUInt32()
            case ("ProcessFD", "h"): reference = try value.readUnixFD()
            case ("LinuxSecurityLabel", "ay"):
                let label = try value.readBytes()
                securityLabel = String(decoding: label.prefix { $0 != 0 }, as: UTF8.self)
            default: break
            }
        }
        let process = processID.flatMap { examiner.examine($0, reference: reference) }
        credentials = PeerCredentials(
            userID: userID, processID: processID, securityLabel: securityLabel,
            place: process?.place, flatpak: process?.flatpak)
        isProcessCertain = reference != nil
    }
}
