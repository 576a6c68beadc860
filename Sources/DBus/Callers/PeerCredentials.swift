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

    /// Makes credentials of what is known.
    public init(userID: UInt32?, processID: UInt32?, securityLabel: String? = nil) {
        self.userID = userID
        self.processID = processID
        self.securityLabel = securityLabel
    }
}

extension PeerCredentials {
    /// Reads the bus's answer, of which later versions may say more.
    init(reading reader: inout MessageReader) throws {
        var (userID, processID): (UInt32?, UInt32?)
        var securityLabel: String?
        try reader.readEntries { key, type, value in
            switch (key, type.string) {
            case ("UnixUserID", "u"): userID = try value.readUInt32()
            case ("ProcessID", "u"): processID = try value.readUInt32()
            case ("LinuxSecurityLabel", "ay"):
                let label = try value.readBytes()
                securityLabel = String(decoding: label.prefix { $0 != 0 }, as: UTF8.self)
            default: break
            }
        }
        self.init(userID: userID, processID: processID, securityLabel: securityLabel)
    }
}
