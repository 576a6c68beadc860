import DBus
import DefaultsModel
import SystemCalls

/// The programs that have made changes: the last changes one by one, and a count for each program.
///
/// Invariants:
/// 1. The program of a connection is looked up at its first change, while its caller waits. Later
///    the program may have ended.
/// 2. All of this is bounded, whoever calls.
final class WriterLog {
    /// A program and the process that it runs in.
    struct Writer {
        /// The file of the program; empty if it is unknown.
        let executable: String
        let process: UInt32
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
    private(set) var counts: [String: UInt64] = [:]

    /// Looks up the program of a call's connection, before its change is made.
    ///
    /// - Parameter find: Finds out who it is; called once for a connection.
    func identify(_ origin: String, _ find: () -> Writer?) {
        guard callers[origin] == nil, let writer = find() else { return }
        if callers.count >= Self.mostCallers { callers.removeAll(keepingCapacity: true) }
        callers[origin] = writer
    }

    /// Notes a change.
    func note(_ generation: Generation, by origin: String) {
        let writer = callers[origin] ?? Writer(executable: "", process: 0)
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
    func writer(of generation: UInt64) -> Writer? {
        changes.first { $0.generation.rawValue == generation }?.writer
    }
}

extension ProcessExaminer {
    /// The program that a process runs, as one that makes a change.
    func writer(in process: UInt32) -> WriterLog.Writer {
        WriterLog.Writer(executable: program(of: process), process: process)
    }

    /// Whether a process runs the tool that was installed together with this daemon.
    func isTool(_ process: UInt32) -> Bool {
        let own = (Path.target(ofLink: "/proc/self/exe") ?? "").split(separator: "/")
        let other = program(of: process).split(separator: "/")
        return !own.isEmpty && other == own.dropLast() + ["defaultsctl"]
    }
}
