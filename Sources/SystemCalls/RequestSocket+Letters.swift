internal import CLinux

// This file does not import Glibc: where both modules are seen, Swift takes the types of sockets for
// those of CLinux, and files that import Glibc alone miss them.

/// How a message is sent and received.
extension RequestSocket {
    /// More than any message has.
    private static let largestMessage = 32 << 10

    static func send(_ letter: Letter, on socket: Int32) -> Bool {
        let bytes = letter.parcel.bytes
        return withExtendedLifetime(letter.descriptor) {
            retrying {
                clinux_send(
                    socket, nil, 0, bytes, bytes.count, letter.descriptor?.number ?? -1)
            } == bytes.count
        }
    }

    /// - Returns: Nil at the end. An empty message does not exist.
    static func receive(on socket: Int32) -> Letter? {
        var descriptor: Int32 = -1
        let bytes = [UInt8](unsafeUninitializedCapacity: largestMessage) { buffer, filled in
            let count = retrying {
                clinux_receive(socket, buffer.baseAddress, buffer.count, &descriptor)
            }
            filled = max(0, count)
        }
        let received = descriptor >= 0 ? FileDescriptor(owning: descriptor) : nil
        return bytes.isEmpty ? nil : Letter(Parcel(bytes), received)
    }
}
