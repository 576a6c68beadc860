import DefaultsModel
import DefaultsTerms
import Foundation
import TestTiers
import Testing

@testable import DefaultsStorage

/// What becomes of the history if its file is not what it should be: settings are never concerned.
@Suite(.startsPrograms) struct HistoryFileTests {
    /// What can be in the place of the file.
    enum Thing: CaseIterable {
        case zeros, noise, empty, cut, ofOtherProgram, ofOtherDatabase, ofOtherVersion, forged
        case directory, pipe, link, missing

        func put(at path: String) throws {
            let files = FileManager.default
            let whole = try Data(contentsOf: URL(filePath: path))
            if self == .ofOtherDatabase {
                return try Scratch.python(
                    "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); "
                        + "c.execute(\"UPDATE meta SET uuid = zeroblob(16)\"); c.commit()", path)
            }
            if self == .forged {
                return try Scratch.python(
                    "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); "
                        + "c.execute('UPDATE meta SET number = 9223372036854775807'); c.commit()",
                    path)
            }
            if self == .ofOtherVersion {
                return try Scratch.python(
                    "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); "
                        + "c.execute('PRAGMA user_version = 7'); c.commit()", path)
            }
            try files.removeItem(atPath: path)
            try? files.removeItem(atPath: path + "-wal")
            switch self {
            case .zeros: try Data(count: 40_000).write(to: URL(filePath: path))
            case .noise:
                try Data((0..<40_000).map { UInt8($0 % 251) }).write(to: URL(filePath: path))
            case .empty: try Data().write(to: URL(filePath: path))
            case .cut:
                try whole.prefix(whole.count / 2 / 4096 * 4096).write(to: URL(filePath: path))
            case .ofOtherProgram:
                try Scratch.python(
                    "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); "
                        + "c.execute('CREATE TABLE meta (uuid)'); c.commit()", path)
            case .directory:
                try files.createDirectory(atPath: path, withIntermediateDirectories: false)
            case .pipe: mkfifo(path, 0o600)
            case .link: try files.createSymbolicLink(atPath: path, withDestinationPath: "/dev/null")
            case .missing, .forged, .ofOtherDatabase, .ofOtherVersion: break
            }
        }
    }

    @Test(arguments: Thing.allCases)
    func `Settings are not concerned, and another history is begun`(thing: Thing) async throws {
        let work = try HistoryWork()
        for number in 0..<200 { try work.set("Key\(number)", [UInt8(number)]) }
        try await work.flush()
        try await work.restart { try thing.put(at: work.path) }
        #expect(work.database.lastRepair == nil)
        try work.set("Key0", [99])
        try await work.flush()
        let actions = try await work.actions()
        #expect(actions.count == 1)
        #expect(try await work.standing(of: actions[0]) == [.holds])
        #expect(work.notices.count <= 1)
        let isQuiet = thing == .missing || thing == .empty
        #expect(work.notices.isEmpty == isQuiet, "\(work.notices)")
        // The same again is not more than one file aside.
        try work.set("Key1", [98])
        try await work.flush()
        try await work.restart { try thing.put(at: work.path) }
        try work.set("Key0", [97])
        try await work.flush()
        #expect(try await work.actions().count == 1)
        #expect(work.database.lastRepair == nil)
    }

    @Test(arguments: [false, true])
    func `A file that is removed or emptied while it is used is replaced`(isEmptied: Bool)
        async throws
    {
        let work = try HistoryWork()
        try work.set("Key", [1])
        try await work.flush()
        if isEmptied {
            try #require(truncate(work.path, 0) == 0)
            try #require(truncate(work.path + "-wal", 0) == 0)
        } else {
            try FileManager.default.removeItem(atPath: work.path)
        }
        for value in 2...4 as ClosedRange<UInt8> {
            try work.set("Key", [value])
            try await work.flush()
        }
        #expect(work.database.durableGeneration == work.database.generation)
        let actions = try await work.actions()
        #expect(!actions.isEmpty)
        #expect(try await work.standing(of: actions[0]) == [.holds])
    }

    @Test func `Damage that a flush finds costs one change of the history, and no setting`()
        async throws
    {
        let work = try HistoryWork()
        for number in 0..<400 { try work.set("Key\(number)", [UInt8](repeating: 1, count: 200)) }
        try await work.flush()
        for number in 0..<400 { try work.set("Key\(number)", [2]) }
        try await work.flush()
        for _ in 0..<2 {
            try await work.restart {
                try Scratch.python(
                    """
                    import sqlite3, sys
                    connection = sqlite3.connect(sys.argv[1])
                    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                    roots = [row[0] for row in connection.execute(
                        "SELECT rootpage FROM sqlite_schema WHERE tbl_name = 'rows'")]
                    connection.close()
                    with open(sys.argv[1], "r+b") as file:
                        for page in roots:
                            file.seek((page - 1) * 4096)
                            file.write(bytes(4096))
                    """, work.path)
            }
            for value in 3...5 as ClosedRange<UInt8> {
                try work.set("Key7", [value])
                try await work.flush()
            }
            #expect(work.database.lastRepair == nil)
            #expect(work.database.durableGeneration == work.database.generation)
            let actions = try await work.actions()
            #expect(actions.count == 2)
            #expect(try await work.standing(of: actions[0]) == [.holds])
        }
    }

    @Test func `A damaged row is unknown, and nothing of it is shown`() async throws {
        let work = try HistoryWork()
        for value in 1...3 as ClosedRange<UInt8> {
            try work.set("Key", [value])
            try await work.flush()
        }
        try await work.restart {
            try Scratch.python(
                "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); "
                    + "c.execute('UPDATE rows SET was = x\\'77\\' WHERE first = 3'); "
                    + "c.execute('UPDATE actions SET kind = 99 WHERE number = 1'); c.commit()",
                work.path)
        }
        let actions = try await work.actions()
        #expect(actions.map(\.known) == [1, 1, 1])
        let changes = try #require(try await work.writer.action(2)).1
        #expect(changes.isEmpty)
        let key = try Key("Key")
        let domain = try Domain(name: "org.example.App", layer: .domain)
        let values = try await work.writer.values(
            of: [key], in: domain, at: Generation(rawValue: 2), time: 0)
        #expect(values.values.map(\.value) == [.unknown])
    }

    @Test func `What an older copy of the database does not have is lost, and said to be`()
        async throws
    {
        let work = try HistoryWork()
        try work.set("Key", [1])
        try await work.flush()
        let path = "\(work.scratch.location.directory)/defaults.db"
        var copy = Data()
        try await work.restart { copy = try Data(contentsOf: URL(filePath: path)) }
        try work.set("Key", [2])
        try await work.flush()
        try await work.restart {
            try copy.write(to: URL(filePath: path))
            for segment in try work.scratch.journal() {
                try FileManager.default.removeItem(atPath: segment)
            }
        }
        try work.set("Other", [1])
        try await work.flush()
        let actions = try await work.actions()
        #expect(actions.map(\.number) == [3, 2, 1])
        #expect(actions.map(\.isLost) == [false, true, false])
        #expect(try await work.standing(of: actions[1]) == [.same])
        let request = TakingBackRequest(
            actions: [(2, actions[1].last.rawValue)], domain: nil, key: nil, isRedo: false)
        await #expect(throws: TakingBackObstacle.lost(2)) { try await work.writer.plan(request) }
    }
}

extension Scratch {
    /// Runs Python with a path.
    fileprivate static func python(_ program: String, _ path: String) throws {
        _ = try output(of: "/usr/bin/python3", "-c", program, path)
    }
}
