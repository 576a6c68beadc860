/// The limits of a message that a bus accepts, and of messages that wait.
enum MessageLimits {
    /// The depth of nested containers of all kinds, as the receiver counts it: twice the 32 that
    /// the specification allows for arrays and for structures.
    static let maximumDepth = 64

    /// The bytes of one array.
    ///
    /// https://dbus.freedesktop.org/doc/dbus-specification.html#message-protocol-marshaling
    static let maximumArray = 64 << 20

    /// The bytes of a message, header included.
    static let maximumMessage = 128 << 20

    /// The bytes that may wait to be written before a connection accepts no more calls.
    ///
    /// Two of the largest replies of 16 MiB: one is sent while the next is made.
    static let maximumBacklog = 32 << 20

    /// The same for one of many peers without a bus, which do without a reply that waits (64 KiB).
    static let maximumBacklogOfPeer = 64 << 10

    /// The bytes that may wait to be written to all such peers before the one with the most pays.
    static let maximumBacklogOfAllPeers = 256 << 20

    /// The bytes that all such peers may have sent of unfinished messages before the one with the most
    /// pays.
    ///
    /// There is room for one of the largest messages.
    static let maximumUnfinished = maximumMessage + (16 << 20)

    /// The bytes of waiting calls; above that, a new call must wait for room.
    ///
    /// Below it, one more message is added.
    static let maximumWaitingSize = 64 << 20

    /// The number of waiting calls.
    static let maximumWaitingCalls = 4096

    /// The number of waiting calls with descriptors.
    ///
    /// Each may have ``receivedDescriptors``. A process without free descriptors loses the message,
    /// and with it the connection. The usual limit is 1024.
    static let maximumWaitingWithDescriptors = 2

    /// The bytes of all live messages above which libdbus stops reading (256 MiB).
    ///
    /// More than all waiting calls can have (``maximumWaitingSize`` and a message), so that the
    /// answer for which they wait is read. The rest is for calls that handlers keep.
    static let maximumReceivedSize = 256 << 20

    /// The same for descriptors: one more than waiting calls can have.
    static let maximumReceivedDescriptors = maximumWaitingWithDescriptors * receivedDescriptors + 1

    /// How many bytes a descriptor counts for: a process has about one descriptor for each 64 KiB
    /// of free memory.
    static let descriptorWeight = 64 << 10

    /// How many bytes a header counts for.
    static let headerWeight = 128

    /// Enough for every header: its fixed part and its names of at most 255 bytes, with the name of
    /// the sender, which the bus adds.
    ///
    /// Only the object path may need more.
    static let headerAllowance = 2 << 10

    /// The descriptors that we send in one message: the default limit of a bus.
    ///
    /// The bus ends the connection of a sender that sends more.
    static let maximumDescriptors = 16

    /// The descriptors that we accept in one message: as many as one write to a Unix socket can
    /// have, SCM_MAX_FD of the kernel.
    static let receivedDescriptors = 253

    /// The text of an error, cut to a size that every receiver accepts, without NUL characters.
    static func sendable(_ text: String) -> String {
        let cut = String(decoding: text.utf8.prefix(8 << 10), as: UTF8.self)
        return String(cut.map { $0 == "\0" ? "\u{FFFD}" : $0 })
    }
}
