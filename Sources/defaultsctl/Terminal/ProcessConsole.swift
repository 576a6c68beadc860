import DBus
import DconfFiles
import DefaultsClient
@preconcurrency import Glibc
import Synchronization
import SystemCalls

/// What is around the process.
struct ProcessConsole: Console {
    private static let remarks = Mutex<Set<String>>([])
    private static let schemas = InstalledSchemas(.ofThisProcess())

    let loop: EventLoop?

    /// - Parameter loop: The loop of the only thread, if that runs.
    init(on loop: EventLoop?) {
        self.loop = loop
    }

    var words: [String] { CommandLine.arguments }
    var schemas: InstalledSchemas { Self.schemas }

    var now: timespec {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return now
    }

    func openService(needsBus: Bool) async throws -> ServiceSession {
        try await ServiceSession.find(
            needsBus: needsBus, on: loop ?? EventLoop.startThread(named: "defaultsctl"))
    }

    func openBus() async throws -> Connection {
        try await Connection.open(
            .session, on: loop ?? EventLoop.startThread(named: "defaultsctl"))
    }

    var daemonProgram: String? { DaemonProgram.find() }

    func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    func isNew(_ remark: String) -> Bool {
        Self.remarks.withLock { $0.insert(remark).inserted }
    }

    func isTerminal(_ stream: StandardStream) -> Bool { isatty(stream.rawValue) == 1 }

    func columns(of stream: StandardStream) -> Int {
        var size = winsize()
        guard ioctl(stream.rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return 80
        }
        return Int(size.ws_col)
    }

    func write(_ bytes: [UInt8]) throws(ToolError) {
        guard fwrite(bytes, 1, bytes.count, stdout) == bytes.count else { throw .output(errno) }
    }

    func flush() throws(ToolError) {
        // Otherwise a full disk would go unnoticed.
        guard fflush(stdout) == 0 else { throw .output(errno) }
    }

    func complain(_ text: String) {
        fflush(stdout)
        fputs(text, stderr)
    }

    func readLine() -> String? { Swift.readLine() }

    func input(atMost limit: Int) throws(SystemError) -> [UInt8]? {
        try File.contents(
            ofDescriptor: STDIN_FILENO, named: "standard input", atMost: limit)
    }
}
