/// What a message may hold, so that a bus takes it, and how much of them may wait.
enum MessageLimits {
    /// Containers inside each other, all kinds together, as the receiver counts them: twice the 32
    /// that the specification allows for arrays and for structures.
    static let maximumDepth = 64

    /// The bytes of one array.
    ///
    /// https://dbus.freedesktop.org/doc/dbus-specification.html#message-protocol-marshaling
    static let maximumArray = 64 << 20

    /// The bytes of a message, header included.
    static let maximumMessage = 128 << 20

    /// The bytes that may wait to be written before a connection takes no more calls in.
    ///
    /// Two of the largest replies of 16 MiB, so that one is under way while the next is made.
    static let maximumBacklog = 32 << 20

    /// The bytes of the calls that wait before one more must be made room for.
    ///
    /// One message more is added below it.
    static let maximumWaitingSize = 64 << 20

    /// The calls that wait.
    static let maximumWaitingCalls = 4096

    /// The calls with descriptors that wait.
    ///
    /// Each may bring ``receivedDescriptors``, and a process that has none to spare when a message
    /// comes loses the message, and with it the connection. The usual limit is 1024.
    static let maximumWaitingWithDescriptors = 2

    /// The bytes of messages that are alive when libdbus reads no more (256 MiB).
    ///
    /// More than all calls that wait can have, ``maximumWaitingSize`` and a message, so that the
    /// answer is read which they wait for. The rest is for calls that handlers keep.
    static let maximumReceivedSize = 256 << 20

    /// The same for descriptors: one more than the calls that wait can have.
    static let maximumReceivedDescriptors = maximumWaitingWithDescriptors * receivedDescriptors + 1

    /// What a descriptor counts as in an account of bytes: a process has about as many descriptors
    /// as it has times 64 KiB of memory to spare.
    static let descriptorWeight = 64 << 10

    /// What a header counts as in an account of bytes.
    static let headerWeight = 128

    /// What every header has room in: its fixed part and its names of 255 bytes at most, that of
    /// the sender included, which the bus adds.
    ///
    /// Only the object path may need more.
    static let headerAllowance = 2 << 10

    /// The descriptors that we send in one message: what a bus takes that was told nothing else.
    ///
    /// It ends the connection of a sender that sends more.
    static let maximumDescriptors = 16

    /// The descriptors that we take in one message: what one write to a Unix socket can carry,
    /// SCM_MAX_FD of the kernel.
    static let receivedDescriptors = 253

    /// The text of an error, cut to a size that anybody takes, and without NUL characters.
    static func sendable(_ text: String) -> String {
        let cut = String(decoding: text.utf8.prefix(8 << 10), as: UTF8.self)
        return String(cut.map { $0 == "\0" ? "\u{FFFD}" : $0 })
    }
}
