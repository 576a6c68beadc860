internal import CLinux

/// How far the stack of a thread may be used up by objects that make each other.
struct StackReserve {
    /// What is left for what an object does between one check and the next.
    private static let reserve: UInt = 256 << 10

    private let stack: Range<UInt>

    /// Asks for the stack of the thread that runs; where the system cannot tell, nothing is limited.
    init() {
        var (start, size) = (UInt(0), 0)
        guard clinux_stack_of_this_thread(&start, &size) == 0 else {
            stack = 0..<0
            return
        }
        let (end, overflow) = start.addingReportingOverflow(UInt(bitPattern: size))
        stack = overflow ? 0..<0 : start..<end
    }

    /// Whether less is left than is held back; false on the stack of another thread.
    var isUsedUp: Bool {
        // The addresses are only compared; nothing is read there.
        var here: UInt8 = 0
        let address = withUnsafeMutablePointer(to: &here) { UInt(bitPattern: $0) }
        guard stack.contains(address) else { return false }
        return address - stack.lowerBound < min(Self.reserve, UInt(stack.count) / 2)
    }
}
