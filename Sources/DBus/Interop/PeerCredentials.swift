import CLinux
import Glibc
import SystemCalls

/// Who is at the other end, as the kernel told the bus, or us, when the connection was made.
///
/// See the [specification][1].
///
/// [1]: https://dbus.freedesktop.org/doc/dbus-specification.html#bus-messages-get-connection-credentials
package struct PeerCredentials: Sendable, Hashable {
    /// The user; nil if it is not known, as over TCP.
    package let userID: UInt32?

    /// The process; nil if it is not known, as from another namespace of processes.
    ///
    /// It may have ended, and another one have its number.
    package let processID: UInt32?

    /// What the security module in charge, such as AppArmor or SELinux, calls the peer; nil without
    /// one, and on a connection without a bus.
    package let securityLabel: String?

    /// Where the process was when it was looked at, before its first call; nil if it had ended by
    /// then, or could not be looked at.
    package internal(set) var place: ProcessPlace?

    /// Whether that is our own place, or the bus's.
    ///
    /// The bus is where its session is. This process may be elsewhere: a service manager can give it
    /// mounts of its own.
    package internal(set) var isAtHome = false

    /// Makes credentials of what is known.
    package init(
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

/// Where a process lives: its root directory, its users and its mounts.
///
/// A sandbox differs from its host in at least one of them.
package struct ProcessPlace: Sendable, Hashable {
    private let root: FileIdentity
    private let userNamespace: FileIdentity
    private let mountNamespace: FileIdentity

    /// The place of this process; nil without `/proc`.
    package static let own = ProcessPlace(at: "/proc/self")

    /// Looks at a process by its number.
    ///
    /// A process can end, and another one get its number. A reference (see pidfd_open(2)) always means
    /// the same process. If that one is alive after the look, the number was its number during the
    /// look.
    ///
    /// - Parameter reference: The process that is meant; nil for the one that has the number now.
    /// - Returns: Nil if the process has ended, or cannot be looked at.
    init?(ofProcess number: UInt32, reference: FileDescriptor?) {
        guard let number = Int32(exactly: number),
            let reference = reference ?? Self.reference(to: number),
            let place = ProcessPlace(at: "/proc/\(number)"), Self.isAlive(reference)
        else { return nil }
        self = place
    }

    private init?(at path: String) {
        do {
            let directory = try File(path, O_RDONLY | O_DIRECTORY)
            root = try FileStatus(of: "root/", in: directory).identity
            userNamespace = try FileStatus(of: "ns/user", in: directory).identity
            mountNamespace = try FileStatus(of: "ns/mnt", in: directory).identity
        } catch {
            return nil
        }
    }

    /// A reference to the process that has a number now; nil if there is none.
    static func reference(to number: Int32) -> FileDescriptor? {
        let descriptor = clinux_open_process(number)
        return descriptor >= 0 ? FileDescriptor(owning: descriptor) : nil
    }

    /// Whether a process has not ended: its reference is readable from then on.
    private static func isAlive(_ reference: FileDescriptor) -> Bool {
        var entry = pollfd(fd: reference.number, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) == 0
    }
}
