import Foundation
import Glibc
import TestSupport
import Testing

/// A process that uses the client library and carries out commands: see `ClientProgram`.
///
/// It is ended after half an hour, so that a test of one that hangs fails.
final class ClientProcess {
    /// What it does not say on standard output.
    let complaints: String
    private let process: ChildProcess
    private var events: [String] = []

    /// The program, which is built beside the tests.
    static let program = URL(filePath: CommandLine.arguments[0])
        .deletingLastPathComponent().appending(path: "ClientProgram").path(percentEncoded: false)

    /// - Parameters:
    ///   - words: The command line of the program.
    ///   - wrapper: What runs it.
    init(
        _ words: [String], in desktop: Desktop, by wrapper: [String] = [],
        environment: [String: String]? = nil
    ) throws {
        let name = desktop.directory.path + "/client-" + UUID().uuidString
        complaints = name + ".err"
        process = try ChildProcess(
            wrapper + [Self.program] + words,
            environment: environment ?? desktop.environment, input: .pipe, output: .lines,
            error: .file(complaints))
    }

    convenience init(talkingOf domain: String, in desktop: Desktop) throws {
        try self.init(["talk", domain], in: desktop)
    }

    /// Itself, when it has reached the service, which on a busy machine takes longer than a read waits.
    func whenCurrent() throws -> ClientProcess {
        try wait(for: "current", to: "state")
        return self
    }

    /// Tells it to do something.
    ///
    /// - Returns: Its answer; `done` for what has none.
    @discardableResult
    func ask(_ command: String) throws -> String {
        try tell(command)
        return try answer()
    }

    /// What a read gives when the service has answered: on a busy machine a read may wait in vain, and then
    /// it may be stale.
    func fresh(_ command: String) throws -> String {
        var answer = ""
        try EndToEndTests.wait {
            answer = try ask(command)
            return try ask("state") != "unreachable"
        }
        return answer
    }

    /// Tells it to do something, whose answer is asked for later.
    func tell(_ command: String) throws {
        try process.input?.write(contentsOf: Data((command + "\n").utf8))
    }

    func answer() throws -> String {
        while true {
            let line = try line()
            if line.hasPrefix("= ") { return String(line.dropFirst(2)) }
            events.append(String(line.dropFirst(2)))
        }
    }

    /// Its next report.
    func event() throws -> String {
        if !events.isEmpty { return events.removeFirst() }
        let line = try line()
        try #require(line.hasPrefix("~ "), "\(line)")
        return String(line.dropFirst(2))
    }

    /// Waits for an answer that a read is to give in the end.
    func wait(for answer: String, to command: String) throws {
        try EndToEndTests.wait { try ask(command) == answer }
    }

    func line() throws -> String {
        guard let line = process.lines?.next() else {
            throw ProgramEnded(status: process.waitUntilExit(), complaints: try told())
        }
        return line
    }

    private func told() throws -> String {
        try String(contentsOfFile: complaints, encoding: .utf8)
    }

    /// Closes its standard input, and waits for its end.
    @discardableResult
    func end() throws -> Int32 {
        try process.input?.close()
        return process.waitUntilExit()
    }

    /// Sends it a signal.
    var processID: pid_t { process.processIdentifier }

    func send(_ signal: Int32) { process.send(signal) }

    func waitUntilExit() -> Int32 { process.waitUntilExit() }
}

/// A client's process has ended before its time.
struct ProgramEnded: Error {
    let status: Int32
    let complaints: String
}

extension Desktop {
    /// Sends the daemon a signal where the bus knows of one, which may be another a moment later.
    func end(by signal: Int32) throws -> Bool {
        let answer = run(
            "gdbus", "call", "--session", "--dest", "org.freedesktop.DBus", "--object-path",
            "/org/freedesktop/DBus", "--method",
            "org.freedesktop.DBus.GetConnectionUnixProcessID", "org.defaultsd.Defaults1")
        guard answer.status == 0 else { return false }
        return kill(try #require(pid_t(answer.output.split { !$0.isNumber }.last ?? "")), signal)
            == 0
    }

    /// Moves the daemon's directory out of the runtime directory, if the daemon has made everything there.
    ///
    /// - Parameter number: Of how many directories were moved before.
    /// - Returns: Whether it was moved.
    func loseRuntimeDirectory(_ number: Int) -> Bool {
        let here = directory.path + "/runtime/defaultsd"
        let databases = (try? FileManager.default.contentsOfDirectory(atPath: here)) ?? []
        // The page of counters is the last that it makes.
        let hasPage = databases.contains {
            FileManager.default.fileExists(atPath: "\(here)/\($0)/counters")
        }
        return hasPage && rename(here, "\(directory.path)/lost-\(number)") == 0
    }

    /// Sets a number as any other process of the desktop may.
    func setNumber(_ number: Int, forKey key: String, in domain: String) throws {
        _ = try call("SetValue", domain, key, "<int64 \(number)>").requireOutput()
    }

    /// The number that the service has.
    func number(forKey key: String, in domain: String) throws -> Int {
        let answer = try call("GetValue", domain, key).requireOutput()
        return try #require(
            answer.firstMatch(of: /<int64 (-?\d+)>|<(-?\d+)>/).flatMap {
                Int($0.1 ?? $0.2 ?? "")
            }, "\(answer)")
    }
}
