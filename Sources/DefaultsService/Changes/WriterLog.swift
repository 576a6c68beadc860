import DefaultsModel
import Glibc

/// Who has made changes: the last ones one by one, and all by program.
///
/// Invariants:
/// 1. A program is looked up at the first change of a connection, while its caller waits: later it
///    may be gone.
/// 2. Nothing here grows beyond its bound, whoever calls.
struct WriterLog {
    /// A program and the process that it runs in.
    struct Writer {
        /// The file of the program; empty if that cannot be known.
        let executable: String
        let process: UInt32
    }

    /// How many changes are known one by one.
    static let capacity = 1024
    /// How many connections are known; beyond that they are learned anew.
    private static let mostCallers = 1024
    /// How many programs are counted apart.
    private static let mostPrograms = 256

    /// By their names on the bus; without a bus the peer's is empty.
    private var callers: [String: Writer] = [:]
    /// The last changes; when it is full, the oldest stands at ``next``.
    private var changes: [(generation: Generation, writer: Writer)] = []
    private var next = 0
    /// The number of changes by program; those of unknown ones under the empty name.
    private(set) var counts: [String: UInt64] = [:]

    /// Learns whose connection it is that a call came over, before its change is made.
    mutating func meet(_ origin: String, process: UInt32?) {
        guard callers[origin] == nil, let process else { return }
        if callers.count >= Self.mostCallers { callers.removeAll(keepingCapacity: true) }
        callers[origin] = Writer(executable: ProgramFile.path(of: process), process: process)
    }

    /// Notes a change.
    mutating func note(_ generation: Generation, by origin: String) {
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

    /// Who made a change; nil if it is not among the last.
    func writer(of generation: UInt64) -> Writer? {
        changes.first { $0.generation.rawValue == generation }?.writer
    }
}

/// The files of programs that call the service.
enum ProgramFile {
    /// The file of the program that a process runs; empty if the system does not tell.
    static func path(of process: some BinaryInteger) -> String {
        target(ofLink: "/proc/\(process)/exe")
    }

    /// Whether a process runs the tool that was installed with this daemon.
    static func isTool(_ process: UInt32) -> Bool {
        let own = target(ofLink: "/proc/self/exe").split(separator: "/")
        let other = path(of: process).split(separator: "/")
        return !own.isEmpty && other == own.dropLast() + ["defaultsctl"]
    }

    private static func target(ofLink link: String) -> String {
        var path = [CChar](repeating: 0, count: 1024)
        // The array is passed for the time of the call.
        let length = readlink(link, &path, path.count)
        guard length > 0 else { return "" }
        return String(decoding: path.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
