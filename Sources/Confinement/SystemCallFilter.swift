internal import CLinux
internal import Glibc
package import SystemCalls

// Invariants
//
// 1. A filter is a list of what is allowed. Everything else fails with EPERM, as in the unit of the
//    service, and the process goes on.
// 2. A call that the C library replaces by an older one fails with ENOSYS: then the library does that.
//    So do calls that are newer than the list.
// 3. Calls of another architecture end the process: their numbers mean something else.

/// A filter of system calls, which this process can never lift; see seccomp(2).
package struct SystemCallFilter {
    /// What a call may be.
    struct Rule {
        let call: Int32
        /// The argument that decides, by its place; nil if all calls are allowed.
        var argument: UInt32?
        /// The bits of it that count.
        var mask = UInt32.max
        /// What these bits may be.
        var values: [UInt32] = []
    }

    private let rules: [Rule]

    init(_ rules: [Rule]) {
        self.rules = rules
    }

    /// Binds all threads of this process, and those that they make.
    ///
    /// - Throws: If the kernel has no filters.
    package func apply() throws(SystemError) {
        guard clinux_gain_no_rights() == 0 else { throw .last("prctl", "no_new_privs") }
        let steps = program
        guard clinux_filter_system_calls(steps, UInt16(steps.count)) == 0 else {
            throw .last("seccomp", "filter")
        }
    }
}

// MARK: The program

/// The filter as the kernel runs it; see <https://docs.kernel.org/userspace-api/seccomp_filter.html>.
extension SystemCallFilter {
    /// The last number that is known here: that of lsm_list_modules.
    private static let newest: UInt32 = 461

    #if arch(x86_64)
        private static let architecture: UInt32 = 0xC000_003E
    #elseif arch(arm64)
        private static let architecture: UInt32 = 0xC000_00B7
    #endif

    /// Where the kernel shows the number, the architecture and the arguments of a call.
    private static let (numberOffset, architectureOffset): (UInt32, UInt32) = (0, 4)
    private static let (argumentsOffset, argumentSize): (UInt32, UInt32) = (16, 8)

    private static let allow: UInt32 = 0x7FFF_0000
    private static let end: UInt32 = 0x8000_0000
    private static func fail(_ error: Int32) -> UInt32 { 0x0005_0000 | UInt32(error) }

    var program: [clinux_filter_step] {
        Self.beginning + rules.filter { $0.argument != nil }.flatMap(Self.block)
            + Self.list(of: rules.filter { $0.argument == nil }.map { UInt32($0.call) })
    }

    private static var beginning: [clinux_filter_step] {
        [
            load(architectureOffset), jump(ifEqual: architecture, 1, else: 0), finish(end),
            load(numberOffset), jump(ifAbove: newest, 1, else: 0),
            // clone3, whose arguments a filter cannot see.
            jump(ifEqual: UInt32(SYS_clone3), 0, else: 1), finish(fail(ENOSYS)),
        ]
    }

    /// The steps for a call whose argument decides.
    private static func block(for rule: Rule) -> [clinux_filter_step] {
        let count = rule.values.count
        let tests = rule.values.enumerated().map { index, value in
            jump(ifEqual: value, UInt8(count - index), else: 0)
        }
        // An argument of a machine with small ends first begins with the part that counts.
        let steps =
            [load(argumentsOffset + (rule.argument ?? 0) * argumentSize), and(rule.mask)]
            + tests + [finish(fail(EPERM)), finish(allow)]
        return [jump(ifEqual: UInt32(rule.call), 0, else: UInt8(steps.count))] + steps
    }

    /// The last steps: all other calls that are allowed.
    private static func list(of calls: [UInt32]) -> [clinux_filter_step] {
        calls.enumerated().map { index, call in
            jump(ifEqual: call, UInt8(calls.count - index), else: 0)
        } + [finish(fail(EPERM)), finish(allow)]
    }

    private static func load(_ offset: UInt32) -> clinux_filter_step {
        step(0x20, offset)
    }

    private static func and(_ mask: UInt32) -> clinux_filter_step {
        step(0x54, mask)
    }

    private static func jump(
        ifEqual value: UInt32, _ steps: UInt8, else others: UInt8
    ) -> clinux_filter_step {
        step(0x15, value, steps, others)
    }

    private static func jump(
        ifAbove value: UInt32, _ steps: UInt8, else others: UInt8
    ) -> clinux_filter_step {
        step(0x25, value, steps, others)
    }

    private static func finish(_ action: UInt32) -> clinux_filter_step {
        step(0x06, action)
    }

    /// - Parameter code: What BPF does in this step.
    private static func step(
        _ code: UInt16, _ value: UInt32, _ isTrue: UInt8 = 0, _ isFalse: UInt8 = 0
    ) -> clinux_filter_step {
        clinux_filter_step(code: code, if_true: isTrue, if_false: isFalse, value: value)
    }
}
