import DefaultsModel

/// The programs that have made changes: the last changes one by one, and a count for each program.
///
/// Invariants:
/// 1. The program of a connection is looked up at its first change, while its caller waits. Later
///    the program may have ended.
/// 2. All of this is bounded, whoever calls.
package final class WriterLog {
    /// A program and the process that it runs in.
    package struct Writer {
        /// The file of the program; empty if it is unknown.
        package let executable: String
        /// The name of the program, of an interpreter that of the script; empty if it is unknown.
        package let name: String
        package let process: UInt32

        /// Names a program.
        package init(executable: String, name: String, process: UInt32) {
            self.executable = executable
            self.name = name
            self.process = process
        }
    }

    /// How many changes are remembered one by one.
    private static let capacity = 1024
    /// How many connections are remembered.
    ///
    /// A connection that was forgotten is looked up again.
    private static let mostCallers = 1024
    /// How many programs are counted separately.
    private static let mostPrograms = 256

    /// By their bus names.
    ///
    /// Without a bus, the peer's name is empty.
    private var callers: [String: Writer] = [:]
    /// The last changes.
    ///
    /// When this is full, the oldest one is at ``next``.
    private var changes: [(generation: Generation, writer: Writer)] = []
    private var next = 0
    /// The number of changes by program.
    ///
    /// Unknown programs are counted under the empty name.
    package private(set) var counts: [String: UInt64] = [:]

    /// Looks up the program of a caller, before its change is made; once for a connection.
    package func identify(_ caller: Caller) {
        guard callers[caller.origin] == nil, let writer = caller.examine() else { return }
        if callers.count >= Self.mostCallers { callers.removeAll(keepingCapacity: true) }
        callers[caller.origin] = writer
    }

    /// The name of the program of a connection that has been looked up; empty if it is unknown.
    func program(of origin: String) -> String { callers[origin]?.name ?? "" }

    /// Notes a change.
    func note(_ generation: Generation, by origin: String) {
        let writer = callers[origin] ?? Writer(executable: "", name: "", process: 0)
        if changes.count < Self.capacity {
            changes.append((generation, writer))
        } else {
            changes[next] = (generation, writer)
            next = (next + 1) % Self.capacity
        }
        let isCounted = counts.count < Self.mostPrograms || counts[writer.executable] != nil
        counts[isCounted ? writer.executable : "", default: 0] += 1
    }

    /// The writer of a change; nil if the change is not among the last ones.
    package func writer(of generation: UInt64) -> Writer? {
        changes.first { $0.generation.rawValue == generation }?.writer
    }
}
