import DBus
import Glibc
import SystemCalls

/// What is around a command line: its words, the environment, the time, the standard streams, and the
/// ways to the service and to the bus.
///
/// The tool asks for these by ``Defaultsctl/console``. So a test runs a command line in its own process, with
/// a console of its own. Only `watch` writes to its process itself, and ends it with its reader.
protocol Console: Sendable {
    /// The path of the program, and the words after it.
    var words: [String] { get }
    /// The time since 1970.
    var now: timespec { get }
    /// The GSettings schemas that programs find.
    var schemas: InstalledSchemas { get }
    /// The loop of the only thread, for connections to a bus; nil if there is none.
    var loop: EventLoop? { get }

    /// Opens the connection of a command.
    ///
    /// - Parameter needsBus: Whether the command needs a service on a bus.
    func openService(needsBus: Bool) async throws -> ServiceSession

    /// Opens a connection to the bus of the session.
    func openBus() async throws -> Connection

    /// The daemon's program that is installed; nil if there is none.
    var daemonProgram: String? { get }

    /// A variable of the environment; nil if it is not set.
    func variable(_ name: String) -> String?

    /// Whether a remark is made for the first time.
    func isNew(_ remark: String) -> Bool

    func isTerminal(_ stream: StandardStream) -> Bool

    /// The columns of a terminal; 80 if they are unknown, or if it is not a terminal.
    func columns(of stream: StandardStream) -> Int

    /// Writes to standard output.
    ///
    /// - Throws: ``ToolError`` if that fails.
    func write(_ bytes: [UInt8]) throws(ToolError)

    /// Hands on what was written to standard output.
    ///
    /// - Throws: ``ToolError`` if that fails.
    func flush() throws(ToolError)

    /// Writes to standard error, after all that was written to standard output before.
    func complain(_ text: String)

    /// Reads a line from standard input; nil at its end.
    func readLine() -> String?

    /// Reads standard input to its end; nil if it is longer than a limit.
    func input(atMost limit: Int) throws(SystemError) -> [UInt8]?
}

/// The standard streams, by the numbers of their descriptors.
enum StandardStream: Int32 {
    case input, output, error
}

extension Defaultsctl {
    /// The console of the command line that runs.
    @TaskLocal static var console: any Console = ProcessConsole(on: nil)
}
