/// Who is at the other end, as the kernel told the bus, or us, when the connection was made.
///
/// See the [specification][1].
///
/// [1]: https://dbus.freedesktop.org/doc/dbus-specification.html#bus-messages-get-connection-credentials
public struct PeerCredentials: Sendable, Hashable {
    /// The user; nil where it is not known, as over TCP.
    public let userID: UInt32?

    /// The process; nil where it is not known, as from another namespace of processes.
    ///
    /// It may have ended, and another one have its number.
    public let processID: UInt32?

    /// What the security module in charge, such as AppArmor or SELinux, calls the peer; nil without
    /// one, and on a connection without a bus.
    public let securityLabel: String?

    /// Where the process was when it was looked at, before its first call; nil where it had ended by
    /// then, or could not be looked at.
    public internal(set) var place: ProcessPlace?

    /// Whether that is our own place, or the bus's.
    ///
    /// The bus is where its session is. This process may be elsewhere: a service manager can give it
    /// mounts of its own.
    public internal(set) var isAtHome = false

    /// Makes credentials of what is known.
    public init(
        userID: UInt32?, processID: UInt32?, securityLabel: String? = nil,
        place: ProcessPlace? = nil
    ) {
        self.userID = userID
        self.processID = processID
        self.securityLabel = securityLabel
        self.place = place
    }
}

extension PeerCredentials {
    /// What a bus says of a connection, and what was seen of its process at once.
    struct Answer {
        var credentials: PeerCredentials
        /// Whether the process is certain to be the one that connected.
        ///
        /// The bus has handed over a reference to it. Without one, the process is only the one that has
        /// the number now.
        let isProcessCertain: Bool
    }
}

extension PeerCredentials.Answer {
    /// Reads the bus's answer, of which later versions may say more.
    init(reading reader: inout MessageReader) throws {
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
        let place = processID.flatMap { ProcessPlace(ofProcess: $0, reference: reference) }
        credentials = PeerCredentials(
            userID: userID, processID: processID, securityLabel: securityLabel, place: place)
        isProcessCertain = reference != nil
    }
}
