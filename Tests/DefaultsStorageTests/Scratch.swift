import DefaultsModel
import Foundation
import TestSupport
import Testing

@testable import DefaultsStorage

/// A place for a database, removed at the end.
final class Scratch {
    let root: String
    let location: DatabaseLocation
    private(set) var notices: [Notice] = []
    /// The date, which a test moves.
    let date = HeldDate()

    /// The boot that a test takes place in unless it says otherwise.
    static let boot = UniqueID.random()

    /// - Parameter root: A directory to use, such as a file system of its own; nil makes one.
    init(hasRuntimeDirectory: Bool = true, in root: String? = nil) throws {
        self.root =
            root
            ?? FileManager.default.temporaryDirectory
            .appendingPathComponent("defaultsd-\(UUID().uuidString)").path
        location = DatabaseLocation(
            directory: "\(self.root)/config/defaultsd",
            runtimeDirectory: hasRuntimeDirectory ? "\(self.root)/run" : nil)
        try FileManager.default.createDirectory(
            atPath: "\(self.root)/run", withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: root)
    }

    /// The machine that a test takes place on unless it says otherwise.
    static let machine = Machine(id: .localhost) { "localhost" }

    /// Opens the database, as in another boot of the machine, or on another one, if one is given.
    func open(
        boot: UniqueID = Scratch.boot, on machine: Machine = Scratch.machine, damage: String? = nil
    ) throws -> Database {
        try Database(at: location, boot: boot, machine: machine, date: date, damage: damage) {
            [unowned self] in notices.append($0)
        }
    }

    /// Runs a process that opens the database, does something, and dies: it neither flushes nor
    /// closes.
    @discardableResult
    func process<Result>(
        boot: UniqueID = Scratch.boot, on machine: Machine = Scratch.machine,
        _ body: (Database) throws -> Result
    ) throws -> Result {
        try body(try open(boot: boot, on: machine))
    }

    /// Whether a notice with these words was given.
    func noticed(_ words: String) -> Bool {
        notices.contains { $0.description.contains(words) }
    }

    /// The files of the journal by their paths, in order.
    func journal() throws -> [String] {
        let base = location.runtimeDirectory == nil ? location.directory : "\(root)/run"
        let all = FileManager.default.enumerator(atPath: base)?.allObjects as? [String] ?? []
        return all.filter { $0.hasSuffix(".journal") }.sorted().map { "\(base)/\($0)" }
    }

    /// The one file of the journal that has records.
    func journalWithRecords() throws -> String {
        let files = try journal().filter { try size($0) > JournalHeader.size }
        return try #require(files.count == 1 ? files.first : nil)
    }

    func size(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
    }

    /// What Python's sqlite3 module gives for a query: its rows, or the sentence of its error.
    ///
    /// The database is closed in this process.
    func query(_ sql: String) throws -> String {
        let program = """
            import sqlite3, sys
            try:
                print(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchall())
            except sqlite3.Error as error:
                print(error)
            """
        return try Scratch.output(
            of: "/usr/bin/python3", "-c", program, "\(location.directory)/defaults.db", sql)
    }

    /// Has Python's sqlite3 module change the database, which is closed in this process.
    func execute(_ sql: String) throws {
        let program = """
            import sqlite3, sys
            connection = sqlite3.connect(sys.argv[1])
            connection.executescript(sys.argv[2])
            connection.commit()
            """
        _ = try Scratch.output(
            of: "/usr/bin/python3", "-c", program, "\(location.directory)/defaults.db", sql)
    }

    /// Has the file of the lock tell that nothing but the founding of the database is on disk.
    ///
    /// A power cut may leave such a note: it is written after the flush, and nobody waits for it.
    func forgetNote() throws {
        let path = "\(location.directory)/lock"
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        let note = try #require(lines.last.flatMap { StoreNote(line: $0) })
        let earlier = StoreNote(isClosed: false, database: note.database, generation: .first)
        try "host 1\n\(earlier.line)\n".write(toFile: path, atomically: false, encoding: .utf8)
    }

    /// A copy of the database as a power cut leaves it: without the runtime directory.
    func copyWithoutRuntime() throws -> Scratch {
        let copy = try Scratch()
        try FileManager.default.copyItem(atPath: "\(root)/config", toPath: "\(copy.root)/config")
        return copy
    }

    /// What a program prints.
    static func output(of program: String...) throws -> String {
        try ProgramResult.run(program).requireOutput()
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
