import Foundation
import TestSupport
import Testing

/// A program that reads a key and sets it, in one of the ways that there are.
enum HonestProgram: String, CaseIterable {
    case tool = "`defaultsctl`"
    case swift = "Swift"
    case c = "C, Python"
    case gsettings = "GSettings"

    /// What a program is told about a value.
    enum Answer: String {
        /// The value that the service has.
        case value
        /// That it is not known.
        case error
        /// A default or a success, and a line on standard error that says that it is none.
        case said
        /// That nobody has set it, which is wrong.
        case falseDefault = "default"
        /// That a change is kept.
        case kept
    }

    /// Reads the key as a number.
    ///
    /// - Parameter stored: Its value, as the tool prints it.
    func read(_ stored: String, on stage: ConditionedDesktop) throws -> (Answer, words: String) {
        let words: String
        switch self {
        case .tool:
            let result = try run("defaultsctl", ["read", "org.example.App", "Key"], on: stage)
            guard result.status == 0 else {
                let isMissing = result.error.contains("does not exist")
                return (isMissing ? .falseDefault : .error, "\(result)")
            }
            words = result.output
        case .swift: words = try talk(["try-get Key"], on: stage)
        case .c: words = try run("honest", ["read"], on: stage).output
        case .gsettings:
            let result = try gsettings(["get", Self.schema, "key"], on: stage)
            guard result.output != stored + "\n" else { return (.value, result.output) }
            let isSaid = ["default", "not answer", "no room", "type"].contains {
                result.error.contains($0)
            }
            return (isSaid ? .said : .falseDefault, "\(result)")
        }
        let text = words.trimmingCharacters(in: .whitespacesAndNewlines)
        switch text {
        case stored: return (.value, words)
        case _ where text.hasPrefix("error"): return (.error, words)
        default: return (.falseDefault, words)
        }
    }

    /// Sets the key to 6.
    func write(on stage: ConditionedDesktop) throws -> (Answer, words: String) {
        switch self {
        case .tool:
            let words = ["write", "org.example.App", "Key", "-int", "6"]
            let result = try run("defaultsctl", words, on: stage)
            return (result.status == 0 ? .kept : .error, "\(result)")
        case .swift:
            let words = try talk(["set Key 6", "flush 3"], on: stage)
            return (words == "done" ? .kept : .error, words)
        case .c:
            let result = try run("honest", ["write", "6"], on: stage)
            return (result.output == "kept\n" ? .kept : .error, "\(result)")
        case .gsettings:
            let result = try gsettings(["set", Self.schema, "key", "6"], on: stage)
            guard result.status == 0, !result.error.contains("not stored") else {
                return (.error, "\(result)")
            }
            let isRefused = ["was refused", "not written"].contains { result.error.contains($0) }
            return (isRefused ? .said : .kept, "\(result)")
        }
    }

    private static let schema = "org.example.App"

    /// Runs `gsettings` with the module, as a program that nobody has made for it.
    private func gsettings(
        _ words: [String], on stage: ConditionedDesktop
    ) throws -> ProgramResult {
        let schemas = stage.desktop.directory.path + "/schemas"
        if !FileManager.default.fileExists(atPath: schemas) {
            try FileManager.default.createDirectory(
                atPath: schemas, withIntermediateDirectories: false)
            try """
            <schemalist><schema id="\(Self.schema)" path="/org/example/App/">
            <key name="key" type="i"><default>0</default></key></schema></schemalist>
            """.write(
                toFile: schemas + "/example.gschema.xml", atomically: false, encoding: .utf8)
            try ProgramResult.run(["glib-compile-schemas", schemas]).requireOutput()
        }
        // The module runs the daemon that is on the path.
        let tool = try stage.desktop.installed(
            Desktop.programs + "/defaultsctl", daemon: stage.hasDaemonBeside)
        let folder = URL(filePath: tool).deletingLastPathComponent().path(percentEncoded: false)
        let environment = [
            "GSETTINGS_BACKEND": "defaultsd", "GSETTINGS_SCHEMA_DIR": schemas,
            "GIO_EXTRA_MODULES": Desktop.packageDirectory + ".build/gsettings",
            "PATH": "\(folder):/usr/bin:/bin",
        ]
        return stage.desktop.run(
            HangGuard.command + ["gsettings"] + words,
            environment: stage.environment.merging(environment) { $1 })
    }

    /// The key that it reads and sets.
    var key: String { self == .gsettings ? "key" : "Key" }

    /// Sets the key to 6 with the tool, which waits for the service.
    ///
    /// - Returns: The value afterwards, when nothing is in the way any more.
    func keptChange(after condition: Condition, on stage: ConditionedDesktop) throws -> Int {
        #expect(self == .tool)
        let tool = try stage.desktop.start(
            Desktop.programs + "/defaultsctl", "write", "org.example.App", "Key", "-int", "6")
        stage.lift()
        try tool.requireSuccess()
        return try stage.value(after: condition)
    }

    /// Runs a program to its end.
    private func run(
        _ name: String, _ words: [String], on stage: ConditionedDesktop
    ) throws -> ProgramResult {
        let program = try name == "honest" ? stage.compiled() : Desktop.programs + "/" + name
        let place = try stage.desktop.installed(program, daemon: stage.hasDaemonBeside)
        return stage.desktop.run(
            HangGuard.command + [place] + words,
            environment: stage.environment.merging(["LD_LIBRARY_PATH": TrialProgram.library]) { $1 }
        )
    }

    /// The last answer of a program that uses the Swift library, or the first that is an error.
    private func talk(_ commands: [String], on stage: ConditionedDesktop) throws -> String {
        let place = try stage.desktop.installed(
            ClientProcess.program, daemon: stage.hasDaemonBeside)
        let talk = try ChildProcess(
            [place, "talk", "org.example.App"], environment: stage.environment, input: .pipe,
            output: .lines, error: .file(stage.desktop.directory.path + "/talk.err"))
        defer {
            talk.send(SIGKILL)
            talk.waitUntilExit()
        }
        var answer = ""
        for command in commands {
            try talk.input?.write(contentsOf: Data("\(command)\n".utf8))
            repeat { answer = try #require(talk.lines?.next()) } while !answer.hasPrefix("= ")
            if answer.hasPrefix("= error") { break }
        }
        return String(answer.dropFirst(2))
    }
}

extension ConditionedDesktop {
    /// The program in C, for which a compiler is needed.
    fileprivate func compiled() throws -> String {
        let program = desktop.directory.path + "/honest"
        let sources = Desktop.packageDirectory
        try ProgramResult.run([
            "cc", "-o", program, "\(sources)Tests/CDefaults/honest.c", "-I",
            "\(sources)Sources/CDefaults", "-L", TrialProgram.library, "-ldefaults",
        ]).requireOutput()
        return program
    }
}
