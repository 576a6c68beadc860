import DBus
import DconfFiles
import DefaultsClient
import Glibc
import Synchronization
import SystemCalls
import TestSupport

@testable import defaultsctl

/// What is around one command line of a test, and what it has printed.
final class TestConsole: Console {
    private struct Printed {
        var output: [UInt8] = []
        var error: [UInt8] = []
        var screen: [UInt8] = []
    }

    let words: [String]
    let schemas: InstalledSchemas
    private let variables: [String: String]
    /// Which streams are a terminal.
    private let terminal: Set<StandardStream>
    private let printed = Mutex(Printed())
    private let remarks = Mutex<Set<String>>([])
    /// What is left of standard input.
    private let rest: Mutex<ArraySlice<UInt8>>
    private let service: @Sendable () async throws -> RemoteDefaults
    private let bus: @Sendable () async throws -> Connection
    /// The services of desktops that it knows.
    private let doors: [any DesktopDoor.Type]
    /// What happens while somebody reads a question, before the answer.
    private let whenAsked: @Sendable () -> Void

    /// - Parameters:
    ///   - words: The name of the program, and the words after it.
    ///   - variables: The whole environment.
    ///   - input: Standard input.
    ///   - terminal: Which streams are a terminal.
    ///   - now: The time, in seconds since 1970; by default 2024-02-29 12:00:01 UTC.
    ///   - whenAsked: What happens while somebody reads a question, before the answer.
    ///   - doors: The services of desktops that it knows.
    ///   - bus: Connects to the bus of the session.
    ///   - service: Connects to the service.
    init(
        _ words: [String], variables: [String: String], input: [UInt8],
        terminal: Set<StandardStream>, at now: Int = 1_709_208_001,
        whenAsked: @escaping @Sendable () -> Void = {},
        doors: [any DesktopDoor.Type] = DesktopDoors.all,
        on bus: @escaping @Sendable () async throws -> Connection = { throw NoBus() },
        reaching service: @escaping @Sendable () async throws -> RemoteDefaults
    ) {
        self.words = words
        self.variables = variables
        self.terminal = terminal
        schemas = InstalledSchemas(SchemaCatalog(environment: variables))
        self.service = service
        self.bus = bus
        self.doors = doors
        self.whenAsked = whenAsked
        self.now = timespec(tv_sec: now, tv_nsec: 0)
        rest = Mutex(input[...])
    }

    /// Runs the command line to its end.
    func run() async -> ProgramResult {
        let status = await here { await Defaultsctl.outcome { Array(self.words.dropFirst()) } }
        let printed = printed.withLock { $0 }
        return ProgramResult(
            status: status, output: String(decoding: printed.output, as: UTF8.self),
            error: String(decoding: printed.error, as: UTF8.self))
    }

    /// Runs a part of the tool, around which this is.
    func here<Outcome>(_ body: () async -> Outcome) async -> Outcome {
        await Defaultsctl.$console.withValue(self) {
            await DesktopDoors.$all.withValue(doors) { await body() }
        }
    }

    /// Standard output.
    var output: [UInt8] { printed.withLock { $0.output } }

    /// Standard output and standard error, in the order in which they came.
    var screen: String { printed.withLock { String(decoding: $0.screen, as: UTF8.self) } }

    let now: timespec

    var loop: EventLoop? { nil }

    func openService(needsBus: Bool) async throws -> ServiceSession {
        ServiceSession(try await service())
    }

    func openBus() async throws -> Connection { try await bus() }

    var daemonProgram: String? { "/opt/defaultsd/bin/defaultsd" }

    /// The command line has asked for a bus, and there is none.
    private struct NoBus: Error {}

    func variable(_ name: String) -> String? { variables[name] }

    func isNew(_ remark: String) -> Bool { remarks.withLock { $0.insert(remark).inserted } }

    func isTerminal(_ stream: StandardStream) -> Bool { terminal.contains(stream) }

    func columns(of stream: StandardStream) -> Int { 80 }

    func write(_ bytes: [UInt8]) throws(ToolError) {
        printed.withLock {
            $0.output += bytes
            $0.screen += bytes
        }
    }

    func flush() throws(ToolError) {}

    func complain(_ text: String) {
        printed.withLock {
            $0.error += text.utf8
            $0.screen += text.utf8
        }
    }

    func readLine() -> String? {
        whenAsked()
        return rest.withLock { rest in
            guard !rest.isEmpty else { return nil }
            let line = rest.prefix { $0 != UInt8(ascii: "\n") }
            rest = rest.dropFirst(line.count + 1)
            return String(decoding: line, as: UTF8.self)
        }
    }

    func input(atMost limit: Int) throws(SystemError) -> [UInt8]? {
        rest.withLock { rest in
            defer { rest = [] }
            return rest.count <= limit ? Array(rest) : nil
        }
    }
}
