import DBus
import DefaultsCore
import SystemCalls

extension ProcessExaminer {
    /// The program that a process runs, as one that makes a change.
    func writer(in process: UInt32) -> WriterLog.Writer {
        WriterLog.Writer(
            executable: program(of: process), name: programName(of: process), process: process)
    }

    /// Whether a process runs the tool that was installed together with this daemon.
    func isTool(_ process: UInt32) -> Bool {
        let own = (Path.target(ofLink: "/proc/self/exe") ?? "").split(separator: "/")
        let other = program(of: process).split(separator: "/")
        return !own.isEmpty && other == own.dropLast() + ["defaultsctl"]
    }
}
