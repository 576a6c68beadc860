import Foundation
import Glibc
import TestSupport
import Testing

/// What strace shows of the daemon.
extension Desktop {
    /// Attaches strace to all threads of a process.
    func trace(_ process: pid_t, _ options: String...) throws -> ChildProcess {
        let words = directory.path + "/strace"
        let strace = try ChildProcess(
            ["strace", "--follow-forks", "--attach=\(process)"] + options, error: .file(words))
        try wait {
            let said = try String(contentsOfFile: words, encoding: .utf8)
            try #require(strace.isRunning, "strace cannot attach: \(said)")
            return try Self.isTraced(process, by: strace.processIdentifier)
        }
        return strace
    }

    private static func isTraced(_ process: pid_t, by tracer: pid_t) throws -> Bool {
        let threads = "/proc/\(process)/task/"
        return try FileManager.default.contentsOfDirectory(atPath: threads).allSatisfy { thread in
            try String(contentsOfFile: threads + thread + "/status", encoding: .utf8)
                .contains("\nTracerPid:\t\(tracer)\n")
        }
    }
}
