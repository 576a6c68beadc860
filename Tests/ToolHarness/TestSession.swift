import DBus
import DefaultsClient
import DefaultsFiles
import DefaultsProtocol
import Foundation
import TestSupport
import Testing

@testable import ServiceHarness
@testable import defaultsctl

/// A user's session in this process: a service, a home, and command lines of the tool.
///
/// ```swift
/// @Suite(.inSession) struct SomeTests {
///     let session = TestSession.current
///
///     @Test func `A value is stored`() async {
///         #expect(await session.tool("write", "org.example.App", "Key", "1").status == 0)
///     }
/// }
/// ```
///
/// The tool runs on the loop of the service. So when a command line has ended, all that follows from it
/// at the present time is done, too. No time passes unless the test moves the clock.
///
/// Only the task of its test uses it, which makes it `@unchecked Sendable`.
final class TestSession: @unchecked Sendable {
    @TaskLocal static var running: TestSession?

    /// The session of the test that runs, whose suite has the trait ``InSession``.
    static var current: TestSession {
        guard let running else { preconditionFailure("The suite has no trait .inSession.") }
        return running
    }

    let service: TestService
    /// The home of the user, which is empty at first.
    let directory: TemporaryDirectory
    /// The environment of command lines.
    var environment: [String: String]
    /// The bus of the session.
    let bus: SessionBus
    /// The services of desktops that command lines know.
    var doors = DesktopDoors.all
    /// The time of command lines, in seconds since 1970: 2024-02-29 12:00:01 UTC.
    var now = 1_709_208_001

    init() async throws {
        service = try await TestService.start()
        directory = try TemporaryDirectory()
        bus = SessionBus(
            startingFrom: "\(directory.path)/.local/share/dbus-1/services",
            on: service.running.stage)
        environment = [
            "HOME": directory.path, "XDG_CONFIG_HOME": directory.path + "/config",
            "XDG_DATA_DIRS": directory.path + "/system",
        ]
    }

    // MARK: Command lines

    /// Runs a command line of the tool to its end.
    ///
    /// - Parameters:
    ///   - words: The words after the name of the program.
    ///   - program: The name of the program.
    ///   - input: Standard input.
    ///   - caller: Who runs it, as far as the service knows.
    /// - Returns: What it has left behind; a failure of the test and status 124 if it needs time.
    @discardableResult
    func tool(
        _ words: [String], named program: String = "defaultsctl", input: String = "",
        as caller: TestCaller.Kind = .own
    ) async -> ProgramResult {
        await run(console([program] + words, Array(input.utf8), as: caller))
    }

    @discardableResult
    func tool(_ words: String..., input: String = "") async -> ProgramResult {
        await tool(words, input: input)
    }

    /// What a command line shows on a terminal, standard error with it.
    ///
    /// - Parameter whenAsked: What happens while somebody reads a question, before the answer.
    func onTerminal(
        _ words: [String], input: String = "", whenAsked: @escaping @Sendable () -> Void = {}
    ) async -> (text: String, status: Int32) {
        let console = console(
            ["defaultsctl"] + words, Array(input.utf8), on: [.input, .output, .error],
            whenAsked: whenAsked)
        let status = await run(console).status
        return (console.screen, status)
    }

    /// The standard output of a command line that succeeds, byte for byte.
    func bytes(_ words: String..., input: [UInt8] = []) async -> [UInt8] {
        let console = console(["defaultsctl"] + words, input)
        let result = await run(console)
        #expect(result.status == 0, "\(words): \(result.error)")
        return console.output
    }

    /// What a part of the tool finds out from the service.
    func asking<Answer: Sendable>(
        _ body: @escaping @Sendable (RemoteDefaults) async throws -> Answer
    ) async throws -> Answer {
        let service = service.running
        let socket = try await service.admit(.own).socket
        return try await service.stage.run("a part of the tool") {
            let defaults = try await RemoteDefaults.connect(
                toPeerAt: socket, on: service.stage.loop)
            let answer = try await body(defaults)
            await defaults.close()
            return answer
        }.get()
    }

    /// What `doctor` finds out about a service of a desktop; nil if it does not mention it.
    func finding(of door: String) async throws -> Finding? {
        let console = console(["defaultsctl", "doctor"], [])
        return try await service.running.stage.run("doctor") {
            await console.here {
                await DesktopCheck(places: Places(), asksBus: true).findings()
                    .first { $0.subject == door }
            }
        }.get()
    }

    private func console(
        _ words: [String], _ input: [UInt8], as caller: TestCaller.Kind = .own,
        on terminal: Set<StandardStream> = [], whenAsked: @escaping @Sendable () -> Void = {}
    ) -> TestConsole {
        let service = service.running
        return TestConsole(
            words, variables: environment, input: input, terminal: terminal, at: now,
            whenAsked: whenAsked, doors: doors, on: { [bus] in try await bus.connect() }
        ) {
            let socket = try await service.admit(caller).socket
            return try await RemoteDefaults.connect(toPeerAt: socket, on: service.stage.loop)
        }
    }

    private func run(_ console: TestConsole) async -> ProgramResult {
        let line = console.words.joined(separator: " ")
        do {
            return try await service.running.stage.run(line) { await console.run() }.get()
        } catch {
            Issue.record(error, "\(line)")
            return ProgramResult(status: 124, output: "", error: "\(error)")
        }
    }

    // MARK: The service

    /// The generation of the last change.
    func generation() async throws -> UInt64 {
        try await properties().uint64(Contract.currentGeneration)
    }

    /// The generation up to which every change is on disk.
    func durableGeneration() async throws -> UInt64 {
        try await properties().uint64(Contract.durableGeneration)
    }

    /// How many changes are not on disk yet.
    func pendingChanges() async throws -> UInt32 {
        try await properties().uint32(Contract.pendingChanges)
    }

    private func properties() async throws -> Contract.GetProperties.Reply {
        try await service.peer.call(Contract.GetProperties.self, ())
    }

    /// Reads a value and its generation as another program.
    func get(_ domain: String, _ key: String) async throws -> (value: Value, generation: UInt64) {
        try await service.peer.get(domain, key)
    }

    /// The actions that have changed a domain, the newest first, as another program lists them.
    func actions(of domain: String) async throws -> [HistoryActionForm] {
        var filter = HistoryFilter()
        filter.domain = domain
        return try await service.peer.call(Contract.ListActions.self, filter).actions
    }

    var databasePath: String { service.files.database + "/defaults.db" }

    /// Sets a value as another program.
    func set(_ domain: String, _ key: String, _ value: Value) async throws {
        try await service.peer.set(domain, key, value)
    }

    /// Stores an archive as another program.
    func set(_ domain: String, _ key: String, _ archive: [UInt8]) async throws {
        try await service.peer.call(
            Contract.Set.self, (domain: domain, key: key, archive: archive))
    }

    // MARK: The files of administrators and vendors

    /// The path of a file, such as `org.example.Editor.json`, in one of their directories.
    func path(of file: String, in place: LayerPlace) -> String {
        "\(service.files.layers[place])/\(file)"
    }

    /// Writes a file as a package manager does, beside its place, and has the service read it.
    func write(_ contents: String, to file: String, in place: LayerPlace) async throws {
        let path = path(of: file, in: place)
        try FileManager.default.createDirectory(
            atPath: URL(filePath: path).deletingLastPathComponent().path,
            withIntermediateDirectories: true)
        try contents.write(toFile: path, atomically: true, encoding: .utf8)
        await readLayers()
    }

    /// Removes a file, and has the service see that.
    func remove(_ file: String, in place: LayerPlace) async throws {
        try FileManager.default.removeItem(atPath: path(of: file, in: place))
        await readLayers()
    }

    private func readLayers() async {
        // As long as the service waits for a file that may still be written.
        await service.advance(by: .milliseconds(500))
    }
}

extension ProgramResult {
    /// What it says on standard error, without the usage that follows where the line is wrong.
    var complaint: String {
        error.ranges(of: "\nusage: ").first.map { String(error[..<$0.lowerBound]) + "\n" } ?? error
    }
}
