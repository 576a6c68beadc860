import CLinux
import Glibc
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

    /// The ID of the sandboxed application to which the caller belongs.
    ///
    /// Nil if it is in no sandbox, or in one without a proven name.
    package internal(set) var application: String?

    /// Where the process lived before its first call.
    ///
    /// Nil if it had already ended, or could not be examined.
    package internal(set) var place: ProcessPlace?

    /// Whether that place is our own or that of the bus.
    ///
    /// The bus lives where its session is. This process may live elsewhere, because a service
    /// manager can give it its own mounts.
    package internal(set) var isAtHome = false

    /// Makes credentials from known values.
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

    /// Examines a process by its number.
    ///
    /// A process can end, and another one can get its number. A reference (see pidfd_open(2))
    /// always means the same process. If that process is alive after the examination, it had the
    /// number throughout.
    ///
    /// - Parameter reference: The process that is meant; nil for the one that has the number now.
    /// - Returns: Nil if the process has ended, or cannot be examined.
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

    /// A reference to the process that has this number now; nil if there is none.
    static func reference(to number: Int32) -> FileDescriptor? {
        let descriptor = clinux_open_process(number)
        return descriptor >= 0 ? FileDescriptor(owning: descriptor) : nil
    }

    /// Whether a process is running.
    ///
    /// Its reference becomes readable when it ends.
    private static func isAlive(_ reference: FileDescriptor) -> Bool {
        var entry = pollfd(fd: reference.number, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) == 0
    }
}
