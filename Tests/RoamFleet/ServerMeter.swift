import Glibc
import Foundation

/// What the processes of a server use: one process and its children.
struct ServerMeter {
    let process: pid_t

    private static let ticksPerSecond = Double(sysconf(Int32(_SC_CLK_TCK)))

    /// The processes that run now.
    private var processes: [pid_t] {
        let children = Self.text("/proc/\(process)/task/\(process)/children") ?? ""
        return [process] + children.split(separator: " ").compactMap { pid_t($0) }
    }

    /// The processor's time in seconds until now, also of children that have ended.
    var processorTime: Double {
        // The scheduler counts nanoseconds of the living. The dead are counted in ticks, all together.
        let living = processes.reduce(0.0) { $0 + Self.nanoseconds(of: $1) / 1e9 }
        return living + Self.timeOfTheDead(of: process)
    }

    private static func nanoseconds(of process: pid_t) -> Double {
        let fields = text("/proc/\(process)/schedstat")?.split(separator: " ")
        return fields?.first.flatMap { Double($0) } ?? 0
    }

    private static func timeOfTheDead(of process: pid_t) -> Double {
        // The name of the program may have spaces.
        let fields = text("/proc/\(process)/stat")?.split(separator: ")").last?
            .split(separator: " ").compactMap { Double($0) }
        // Without the letter of the state, the first number is the parent's.
        guard let fields, fields.count > 13 else { return 0 }
        return (fields[12] + fields[13]) / ticksPerSecond
    }

    /// The memory in bytes, with the page tables; memory that several processes share counts once.
    ///
    /// The server's shared buffers do not count: an administrator sets their size.
    var memory: Double {
        processes.reduce(0) { sum, process in
            let mapped = Self.kilobytes(
                ["Pss_Anon:", "Pss_File:"], "/proc/\(process)/smaps_rollup")
            let tables = Self.kilobytes(["VmPTE:"], "/proc/\(process)/status")
            return sum + (mapped + tables) * 1024
        }
    }

    private static func kilobytes(_ names: [String], _ path: String) -> Double {
        (text(path) ?? "").split(separator: "\n").reduce(0) { sum, line in
            let words = line.split(whereSeparator: \.isWhitespace)
            guard words.count > 1, names.contains(String(words[0])) else { return sum }
            return sum + (Double(words[1]) ?? 0)
        }
    }

    private static func text(_ path: String) -> String? {
        try? String(contentsOfFile: path, encoding: .utf8)
    }
}
