import DefaultsModel
import Foundation
import Synchronization
import SystemCalls
import TestTiers
import Testing

@testable import DefaultsStorage

/// Several machines that share one home, one after the other.
@Suite(.startsPrograms) struct HostTests {
    private static let box = Machine(id: id("0123456789abcdef0123456789abcdef")) { "box" }
    private static let far = Machine(id: id("11111111111111111111111111111111")) { "far.local" }

    private static func id(_ text: String) -> HostID {
        guard let id = HostID(text) else { preconditionFailure("\(text) is an identity") }
        return id
    }

    private static let names = "SELECT id, name FROM hosts ORDER BY name"

    private func set(
        _ key: String, to byte: UInt8, in domain: String, of database: Database
    ) throws {
        _ = try database.commit(
            ChangeProposal(
                domain: Domain(domain, on: database.hosts),
                set: [.init(key: Key(key), archive: [byte])], origin: ":1.1"))
    }

    private func byte(
        _ key: String, in domain: String, of database: Database
    ) throws -> UInt8? {
        try database.value(Domain(domain, on: database.hosts), Key(key))?.archive.first
    }

    /// A home with values that were stored for `box` before its identity was known.
    private func homeWithLiteralLayer(
        keys: [String] = ["a", "both"], domains: [String] = ["org.example.App"]
    ) async throws -> Scratch {
        let scratch = try Scratch()
        let database = try scratch.open(on: Self.far)
        for domain in domains {
            for key in keys { try set(key, to: 1, in: domain + "@host:box", of: database) }
        }
        try await database.flush()
        database.close()
        return scratch
    }

    @Test("The name of a machine is recorded by the flush that first writes a layer of it")
    func noting() async throws {
        let scratch = try Scratch()
        let database = try scratch.open(on: Self.box)
        try set("key", to: 1, in: "org.example.App", of: database)
        try set("key", to: 1, in: "org.example.App@host:far", of: database)
        try await database.flush()
        database.close()
        #expect(try scratch.query(Self.names) == "[]")
        let again = try scratch.open(on: Self.box)
        try set("key", to: 1, in: "org.example.App@host", of: again)
        try await again.flush()
        again.close()
        #expect(try scratch.query(Self.names) == "[('\(Self.box.id)', 'box')]")
    }

    @Test("A flush that fails records no name, and the next one does")
    func failedFlush() async throws {
        let scratch = try Scratch()
        let database = try scratch.open(on: Self.box)
        try set("key", to: 1, in: "org.example.App@host", of: database)
        let failed = try #require(database.beginFlush())
        #expect(failed.host?.name == "box")
        database.finishFlush(failed, .failure(.cannotOpen("x", SystemError.last("write", "x"))))
        try await database.flush()
        database.close()
        #expect(try scratch.query(Self.names) == "[('\(Self.box.id)', 'box')]")
    }

    @Test("A machine that is renamed while it runs loses nothing, and the next flush records it")
    func renaming() async throws {
        let scratch = try Scratch()
        let name = Mutex("box")
        let database = try scratch.open(on: Machine(id: Self.box.id) { name.withLock { $0 } })
        try set("key", to: 1, in: "org.example.App@host", of: database)
        try await database.flush()
        name.withLock { $0 = "tower" }
        try set("key", to: 2, in: "org.example.Other", of: database)
        try await database.flush()
        #expect(try byte("key", in: "org.example.App@host", of: database) == 1)
        #expect(try byte("key", in: "org.example.App@host:tower", of: database) == 1)
        #expect(database.beginFlush() == nil)
        database.close()
        #expect(try scratch.query(Self.names) == "[('\(Self.box.id)', 'tower')]")
        let elsewhere = try scratch.open(on: Self.far)
        #expect(try byte("key", in: "org.example.App@host:tower", of: elsewhere) == 1)
        #expect(try byte("key", in: "org.example.App@host:box", of: elsewhere) == nil)
        #expect(try byte("key", in: "org.example.App@host", of: elsewhere) == nil)
    }

    @Test("Each of two machines has its own layers, and reads the other's by its name")
    func twoMachines() async throws {
        let scratch = try Scratch()
        for (machine, value) in [(Self.box, 1), (Self.far, 2)] as [(Machine, UInt8)] {
            let database = try scratch.open(on: machine)
            try set("key", to: value, in: "org.example.App@host", of: database)
            try await database.flush()
            database.close()
        }
        let database = try scratch.open(on: Self.box)
        #expect(try byte("key", in: "org.example.App@host", of: database) == 1)
        for name in ["far", "far.local", Self.far.id.name] {
            #expect(try byte("key", in: "org.example.App@host:\(name)", of: database) == 2)
        }
        #expect(
            try database.domains().map { $0.spelling(on: database.hosts) }
                == ["org.example.App@host", "org.example.App@host:far.local"])
        try set("key", to: 3, in: "org.example.App@host:unknown", of: database)
        #expect(
            try database.knownHosts() == [
                Host(id: Self.box.id, name: "box"), Host(id: Self.far.id, name: "far.local"),
                Host(id: Self.id("unknown"), name: ""),
            ])
    }

    @Test("Values stored for a machine by its name are in its layer when it starts")
    func adoption() async throws {
        let scratch = try await homeWithLiteralLayer()
        let before: Generation
        do {
            let database = try scratch.open(on: Self.far)
            before = database.generation
            try set("both", to: 2, in: "org.example.App@host:\(Self.box.id)", of: database)
            try await database.flush()
            database.close()
        }
        // It dies at once, twice.
        for _ in 0..<2 {
            try scratch.process(on: Self.box) { database in
                #expect(try byte("a", in: "org.example.App@host", of: database) == 1)
                #expect(try byte("both", in: "org.example.App@host", of: database) == 2)
                #expect(try database.domains().map(\.layer) == [.host(Self.box.id)])
                #expect(database.generation > before)
                let home = try Domain("org.example.App@host", on: database.hosts)
                let changes = try database.changes(of: home, since: before)
                #expect(changes.isComplete)
                #expect(changes.changed.map(\.key.name) == ["a", "both"])
            }
        }
        let database = try scratch.open(on: Self.box)
        try await database.flush()
        database.close()
        #expect(
            try scratch.query(
                "SELECT host, key FROM domains JOIN entries ON domain = domains.id "
                    + "WHERE archive IS NOT NULL ORDER BY host, key")
                == "[('\(Self.box.id)', 'a'), ('\(Self.box.id)', 'both')]")
        #expect(try scratch.query(Self.names) == "[('\(Self.box.id)', 'box')]")
    }

    @Test("A second start has nothing to move and makes no change")
    func adoptionOnce() async throws {
        let scratch = try await homeWithLiteralLayer()
        let moved = try scratch.process(on: Self.box) { $0.generation }
        #expect(try scratch.process(on: Self.box) { $0.generation } == moved)
    }

    @Test("A process that dies at any moment of the move leaves every value in one of the places")
    func deathAmidAdoption() async throws {
        let domains = ["org.example.App", "org.example.Other"]
        let scratch = try await homeWithLiteralLayer(domains: domains)
        try scratch.process(on: Self.box) { #expect($0.pendingChanges == 4) }
        let path = try scratch.journalWithRecords()
        let size = try scratch.size(path)
        let whole = try Data(contentsOf: URL(filePath: path))
        for cut in stride(from: JournalHeader.size, through: size, by: 7) {
            try whole.prefix(cut).write(to: URL(filePath: path))
            let copy = try Scratch()
            for folder in ["config", "run"] {
                try? FileManager.default.removeItem(atPath: "\(copy.root)/\(folder)")
                try FileManager.default.copyItem(
                    atPath: "\(scratch.root)/\(folder)", toPath: "\(copy.root)/\(folder)")
            }
            let database = try copy.open(on: Self.box)
            for domain in domains {
                #expect(try byte("a", in: domain + "@host", of: database) == 1, "\(cut)")
                #expect(try byte("both", in: domain + "@host", of: database) == 1, "\(cut)")
            }
            let layers = try database.domains().map(\.layer)
            #expect(layers == Array(repeating: .host(Self.box.id), count: 2), "\(cut)")
        }
    }

    @Test("A layer with more bytes than one change may have is moved in several")
    func largeAdoption() async throws {
        let scratch = try Scratch()
        let far = try scratch.open(on: Self.far)
        let literal = try Domain("org.example.App@host:box", on: far.hosts)
        for number in 0..<5 {
            let archive = [UInt8](repeating: UInt8(number), count: 2 << 20)
            _ = try far.commit(
                ChangeProposal(
                    domain: literal, set: [.init(key: Key("key\(number)"), archive: archive)],
                    origin: ""))
        }
        try await far.flush()
        far.close()
        let database = try scratch.open(on: Self.box)
        #expect(database.pendingChanges == 6)
        for number in 0..<5 {
            #expect(
                try byte("key\(number)", in: "org.example.App@host", of: database)
                    == UInt8(number))
        }
    }

    @Test("A damaged value stored for a machine by its name does not stop the others")
    func damagedValue() async throws {
        let scratch = try await homeWithLiteralLayer()
        try scratch.execute("UPDATE entries SET checksum = 1 WHERE key = 'a'")
        let database = try scratch.open(on: Self.box)
        #expect(try byte("both", in: "org.example.App@host", of: database) == 1)
        #expect(try byte("a", in: "org.example.App@host", of: database) == nil)
        let literal = try Domain(name: "org.example.App", layer: .host(Self.id("box")))
        #expect(try database.keys(of: literal).map(\.name) == ["a"])
    }

    @Test("A database of an earlier version has names from now on, and its values stay")
    func migration() async throws {
        let scratch = try await homeWithLiteralLayer()
        try scratch.execute("DROP TABLE times; DROP TABLE hosts; PRAGMA user_version = 3")
        #expect(try scratch.query("PRAGMA user_version") == "[(3,)]")
        let database = try scratch.open(on: Self.box)
        #expect(try byte("a", in: "org.example.App@host", of: database) == 1)
        try await database.flush()
        database.close()
        #expect(try scratch.query("PRAGMA user_version") == "[(\(Schema.version),)]")
        #expect(try scratch.query(Self.names) == "[('\(Self.box.id)', 'box')]")
    }

    @Test("A repair keeps the names")
    func repair() async throws {
        let scratch = try Scratch()
        for machine in [Self.box, Self.far] {
            let database = try scratch.open(on: machine)
            try set("key", to: 1, in: "org.example.App@host", of: database)
            try await database.flush()
            database.close()
        }
        try scratch.open(on: Self.box, damage: "A test.").close()
        #expect(
            try scratch.query(Self.names)
                == "[('\(Self.box.id)', 'box'), ('\(Self.far.id)', 'far.local')]")
        let database = try scratch.open(on: Self.box)
        #expect(try byte("key", in: "org.example.App@host:far", of: database) == 1)
    }

    @Test("Invalid rows in the table of names are ignored")
    func strangeRows() throws {
        let scratch = try Scratch()
        try scratch.open(on: Self.box).close()
        try scratch.execute(
            """
            INSERT INTO hosts VALUES ('good', 'one'), ('no id', 'two'), ('', 'three'),
                ('long', printf('%.1000c', 'x')), (printf('%.65c', 'x'), 'four'), ('five', '')
            """)
        let database = try scratch.open(on: Self.box)
        #expect(database.hosts.others == [Host(id: Self.id("good"), name: "one")])
    }

    @Test("A limited part of a very long table of names is read")
    func longTable() throws {
        let scratch = try Scratch()
        try scratch.open(on: Self.box).close()
        try scratch.execute(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5000)
                INSERT INTO hosts SELECT 'id' || i, 'name' || i FROM n
            """)
        let database = try scratch.open(on: Self.box)
        #expect(database.hosts.others.count == HostTable.mostNames)
    }
}
