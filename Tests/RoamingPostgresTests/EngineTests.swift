import DBus
import DefaultsRoaming
import Foundation
import RoamingPostgres
import Synchronization
import TestSupport
import TestTiers
import Testing

@Suite(.startsPrograms, .enabled(if: PostgresServer.isAvailable, missing))
struct EngineTests {
    @Test func `What one machine pushes, another one pulls`() async throws {
        let (_, a, b) = try await RoamingServer.shared.twoMachines()
        let first = try await a.meet()
        #expect(first.state == .continued)
        #expect(first.revision == 0)
        let (outcomes, losers) = try await a.push(edit("x", "1"), edit("y", nil))
        #expect(outcomes.map(\.result) == [.stands, .stands])
        #expect(outcomes.map(\.mark.revision) == [1, 1])
        #expect(losers.isEmpty)
        let second = try await b.meet()
        #expect(second.revision == 1)
        let page = try await b.pull()
        #expect(page.values == ["x": "1", "y": nil])
        #expect(page.versions.allSatisfy { $0.replica == a.id && $0.mark.revision == 1 })
        #expect(page.versions.map(\.time) == outcomes.map(\.time))
        #expect(page.revision == 1)
    }

    @Test func `A batch that is pushed twice is made once, with the same outcomes`() async throws {
        let server = try await RoamingServer.shared
        let (user, a, b) = try await server.twoMachines()
        try await a.meet()
        try await b.meet()
        try await b.push(edit("mine", "b", age: .seconds(60)), edit("theirs", "b"))
        let batch = a.newBatch([
            edit("mine", "a"), edit("theirs", "a", age: .seconds(60)), edit("new", "a"),
        ])
        let first = try await a.push(batch)
        #expect(first.outcomes.map(\.result) == [.stands, .lost, .stands])
        #expect(first.losers.count == 2)
        // Another process, to which no reply came.
        let again = a.clone(try server.machine(of: user).engine)
        again.lastBatch?.isAnswered = false
        #expect(try await again.meet().state == .continued)
        let second = try await again.push(batch)
        #expect(second.outcomes == first.outcomes)
        #expect(Set(second.losers.map(\.name)) == Set(first.losers.map(\.name)))
        #expect(Set(second.losers.map(\.value)) == ["a", "b"])
        #expect(try await again.meet().revision == 2)
    }

    @Test func `A known version is replaced, an unknown one only by a later edit`() async throws {
        let (_, a, b) = try await RoamingServer.shared.twoMachines()
        try await a.meet()
        try await b.meet()
        let base = try #require(try await a.push(edit("k", "1")).outcomes.first)
        // Knowingly, although the edit is older.
        let knowing = try await b.push(
            edit("k", "2", age: .seconds(900), base: base.mark, earliest: base.time))
        #expect(knowing.outcomes.first?.result == .stands)
        #expect(knowing.losers.isEmpty)
        #expect(try #require(knowing.outcomes.first).time >= base.time)
        let older = try await a.push(
            edit("k", "3", age: .seconds(900), base: VersionMark(revision: 999)))
        #expect(older.outcomes.first?.result == .lost)
        #expect(older.outcomes.first?.mark == knowing.outcomes.first?.mark)
        #expect(older.losers.map(\.value) == ["3"])
        let later = try await a.push(edit("k", "4", base: base.mark))
        #expect(later.outcomes.first?.result == .stands)
        #expect(later.losers.map(\.value) == ["2"])
        #expect(later.losers.first?.replica == b.id)
        let unknown = try await b.push(edit("k", "5", age: nil))
        #expect(unknown.outcomes.first?.result == .lost)
        try await b.meet()
        #expect(try await b.pull().values == ["k": "4"])
    }

    @Test func `The same value changes nothing`() async throws {
        let (_, a, b) = try await RoamingServer.shared.twoMachines()
        try await a.meet()
        try await b.meet()
        let first = try await a.push(edit("k", "1"))
        let second = try await b.push(edit("k", "1"))
        #expect(second.outcomes == first.outcomes)
        #expect(second.losers.isEmpty)
        #expect(try await b.meet().revision == 1)
    }

    @Test func `Losers are told until a machine has kept them`() async throws {
        let (_, a, b) = try await RoamingServer.shared.twoMachines()
        try await a.meet()
        try await a.push(edit("k", "1"))
        try await b.meet()
        let (_, losers) = try await b.push(edit("k", "2"))
        #expect(losers.map(\.value) == ["1"])
        // The one that has pushed is to keep it.
        try await a.meet()
        #expect(try await a.pull().losers.isEmpty)
        try await b.meet()
        #expect(try await b.pull().losers == losers)
        // It never comes again.
        try await a.engine.forget(b.id)
        try await a.meet()
        #expect(try await a.pull().losers == losers)
        try await a.engine.noteKept(losers)
        try await a.meet()
        #expect(try await a.pull().losers.isEmpty)
    }

    @Test func `Losers come a few at a time, and all in one round`() async throws {
        let server = try await RoamingServer.shared
        let (user, a, b) = try await server.twoMachines()
        try await a.meet()
        try await b.meet()
        let names = (0..<450).map { "k\($0)" }
        // Half of what loses are removals.
        try await a.push(
            a.newBatch(names.enumerated().map { edit($1, $0.isMultiple(of: 2) ? nil : "1") }))
        let news = Mutex(0)
        try await b.engine.onNews { news.withLock { $0 += 1 } }
        let before = news.withLock { $0 }
        let batch = b.newBatch(names.map { edit($0, "2") })
        var losers = try await b.push(batch).losers
        #expect(losers.count == 200)
        #expect(news.withLock { $0 } > before)
        // The same if the reply was lost.
        #expect(try await b.push(batch).losers.count == 200)
        try await b.engine.noteKept(losers)
        var page: Page
        repeat {
            page = try await b.engine.pull(after: 0, limit: 1000)
            #expect(page.losers.count <= 200)
            try await b.engine.noteKept(page.losers)
            losers += page.losers
        } while page.hasMore
        #expect(Set(losers.map(\.key.name)) == Set(names))
        #expect(losers.count == 450)
        let left = try server.administer("SELECT count(*) FROM roam.lost WHERE owner = '\(user)'")
        #expect(left == "0\n")
    }

    @Test func `Large losers come one page after the other`() async throws {
        let (_, a, b) = try await RoamingServer.shared.twoMachines()
        try await a.meet()
        try await b.meet()
        let large = String(repeating: "x", count: 1 << 20)
        let names = (0..<6).map { "k\($0)" }
        try await a.push(a.newBatch(names.map { edit($0, large) }))
        let first = try await b.push(b.newBatch(names.map { edit($0, "2") })).losers
        #expect(first.count == 4)
        try await b.engine.noteKept(first)
        let page = try await b.engine.pull(after: 0, limit: 1000)
        #expect(page.losers.count == 2)
        #expect(!page.hasMore)
    }

    @Test func `Others keep what a silent machine was to keep`() async throws {
        let server = try await RoamingServer.shared
        let (user, a, b) = try await server.twoMachines()
        try await a.meet()
        try await a.push(edit("k", "1"))
        try await b.meet()
        let (_, losers) = try await b.push(edit("k", "2"))
        try server.administer(
            "UPDATE roam.lost SET noticed = noticed - interval '1 hour' WHERE owner = '\(user)'")
        try await a.meet()
        #expect(try await a.pull().losers == losers)
    }

    @Test func `Pages end with a revision, and have bounds`() async throws {
        let (_, a, b) = try await RoamingServer.shared.twoMachines()
        try await a.meet()
        for round in 0..<6 {
            try await a.push(a.newBatch((0..<3).map { edit("\(round).\($0)", "\($0)") }))
        }
        try await b.meet()
        let page = try await b.engine.pull(after: 0, limit: 4)
        #expect(page.versions.count == 6)
        #expect(page.revision == 2)
        #expect(page.hasMore)
        #expect(try await b.pull(limit: 4).versions.count == 18)
        let last = try await b.engine.pull(after: 4, limit: 6)
        #expect(!last.hasMore)
        #expect(last.revision == 6)
        #expect(try await b.engine.pull(after: 6, limit: 6).versions.isEmpty)
        let large = String(repeating: "x", count: 1 << 20)
        for number in 0..<10 { try await a.push(edit("large\(number)", large)) }
        try await b.meet()
        let bytes = try await b.engine.pull(after: 6, limit: 1000)
        #expect(bytes.versions.count == 8)
        #expect(bytes.hasMore)
        #expect(try await b.pull(after: 6).versions.count == 10)
    }

    @Test func `Machines that push at the same time take turns`() async throws {
        let server = try await RoamingServer.shared
        let user = try await server.newUser()
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<4 {
                group.addTask {
                    let machine = try server.machine(of: user)
                    try await machine.meet()
                    var losers = 0
                    for round in 0..<25 {
                        let result = try await machine.push(
                            edit("shared", "\(number).\(round)"), edit("own\(number)", "\(round)"))
                        losers += result.losers.count
                    }
                    return losers
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let last = try server.machine(of: user)
        #expect(try await last.meet().revision == 100)
        let page = try await last.pull()
        #expect(page.versions.count == 5)
        let values = page.values
        for number in 0..<4 { #expect(values["own\(number)"] == "24") }
        // 100 values of one key: one stands, and all others were replaced without being known.
        let losers = counts.reduce(0, +)
        #expect(losers == 99 + 4 * 24)
    }

    @Test func `News are announced to others, and not to oneself`() async throws {
        let (_, a, b) = try await RoamingServer.shared.twoMachines()
        let (news, continuation) = AsyncStream.makeStream(of: String.self)
        try await a.engine.onNews { continuation.yield("a") }
        try await b.engine.onNews { continuation.yield("b") }
        try await a.meet()
        try await b.meet()
        try await a.push(edit("k", "1"))
        var iterator = news.makeAsyncIterator()
        #expect(await iterator.next() == "b")
        try await b.meet()
        try await b.push(edit("k", "2"))
        #expect(await iterator.next() == "a")
        #expect(a.engine.pollInterval == .seconds(300))
    }

    @Test func `The end of the connection is news, and the next meeting connects again`()
        async throws
    {
        let server = try await RoamingServer.shared
        let user = try await server.newUser()
        let machine = try server.machine(of: user)
        let (news, continuation) = AsyncStream.makeStream(of: Void.self)
        try await machine.engine.onNews { continuation.yield() }
        try await machine.meet()
        try server.administer(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '\(user)'")
        var iterator = news.makeAsyncIterator()
        await iterator.next()
        #expect(try await machine.meet().state == .continued)
        try await machine.push(edit("k", "1"))
    }

    @Test func `Without announcements the server says how often to ask`() async throws {
        let server = try await RoamingServer()
        let user = try await server.newUser()
        try server.administer("UPDATE roam.setting SET poll_seconds = 45")
        let machine = try server.machine(of: user)
        try await machine.engine.onNews {}
        try await machine.meet()
        #expect(machine.engine.pollInterval == .seconds(45))
        let listening = try server.administer(
            "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'")
        #expect(listening == "0\n")
    }

    @Test func `A removal is forgotten when all machines have pulled it`() async throws {
        let server = try await RoamingServer.shared
        let (user, a, b) = try await server.twoMachines()
        try await a.meet()
        let mark = try #require(try await a.push(edit("k", "1"), edit("z", "1")).outcomes.first)
            .mark
        try await b.meet()
        try await a.push(edit("k", nil, base: mark))
        for machine in [a, b] { await machine.engine.notePulled(upTo: 2) }
        let late =
            "UPDATE roam.replica SET seen = seen - interval '2 hours' WHERE owner = '\(user)'"
        try server.administer(late)
        try await a.meet()
        try await b.meet()
        try server.administer(late)
        try await a.meet()
        let left = try server.administer("SELECT key FROM roam.entry WHERE owner = '\(user)'")
        #expect(left == "z\n")
        // One that was away for a year joins anew.
        try server.administer(
            "UPDATE roam.replica SET pulled = 1 WHERE owner = '\(user)' AND id = '\(b.id)'")
        #expect(try await b.meet().state == .mustJoinAnew)
        // A new one needs no removals.
        #expect(try await server.machine(of: user).meet().state == .continued)
    }

    @Test func `A machine whose first visit forgets removals joins once`() async throws {
        let server = try await RoamingServer.shared
        let user = try await server.newUser()
        let machine = try server.machine(of: user)
        try await machine.meet()
        let mark = try #require(try await machine.push(edit("k", "1")).outcomes.first).mark
        try await machine.push(edit("k", nil, base: mark))
        await machine.engine.notePulled(upTo: 2)
        try await machine.meet()
        let newcomer = try server.machine(of: user)
        #expect(try await newcomer.meet().state == .continued)
        let left = try server.administer(
            "SELECT count(*) FROM roam.entry WHERE owner = '\(user)'")
        #expect(left == "0\n")
        #expect(try await newcomer.meet().state == .continued)
    }

    @Test func `A machine that was forgotten joins anew`() async throws {
        let server = try await RoamingServer.shared
        let (user, a, b) = try await server.twoMachines()
        try await a.meet()
        try await b.meet()
        #expect(try await Set(a.engine.machines().map(\.id)) == [a.id, b.id])
        #expect(try await a.engine.machines().allSatisfy { $0.name == "laptop" && $0.seen != nil })
        try await a.engine.forget(b.id)
        #expect(try await a.engine.machines().map(\.id) == [a.id])
        try await a.push(edit("k", nil))
        await b.engine.notePulled(upTo: 1)
        #expect(try await b.meet().state == .mustJoinAnew)
        // Removals wait for the new replica, which has pulled nothing.
        let new = TestMachine(.random(), b.engine)
        try await new.meet()
        let pulled = try server.administer(
            "SELECT pulled FROM roam.replica WHERE owner = '\(user)' AND id = '\(new.id)'")
        #expect(pulled == "0\n")
    }

    @Test func `Names and archives of any bytes come through`() async throws {
        let (_, a, b) = try await RoamingServer.shared.twoMachines()
        try await a.meet()
        let names = ["'; DROP TABLE roam.entry; --", "\u{0301}é", "{,\"}", "\\", "NULL", " ", "🎛"]
        let archives: [[UInt8]] = [
            [], [0], Array(0...255), Array("NULL".utf8), [0xFF, 0xFE], [10], [92, 120],
        ]
        let edits = zip(names, archives).map { name, archive in
            Edit(
                key: RoamingKey(domain: "a.b", name: name), archive: archive, age: .zero, base: nil,
                earliest: .unknown)
        }
        try await a.push(a.newBatch(edits))
        try await b.meet()
        let page = try await b.pull()
        let pulled = Dictionary(
            uniqueKeysWithValues: page.versions.map { ($0.key.name, $0.archive) })
        for (name, archive) in zip(names, archives) { #expect(pulled[name] == archive, "\(name)") }
    }

    @Test func `Hostile rows are refused with a sentence, and crash nothing`() async throws {
        let server = try await RoamingServer.shared
        let user = try await server.newUser()
        let machine = try server.machine(of: user)
        try await machine.meet()
        try await machine.push(edit("k", "1"))
        let hostile = [
            "UPDATE roam.entry SET written = 'infinity'",
            "UPDATE roam.entry SET written = '-infinity'",
            "UPDATE roam.entry SET rev = 9223372036854775807",
            "UPDATE roam.entry SET written = '294276-12-31'",
            "UPDATE roam.replica SET seen = '-infinity'",
            "UPDATE roam.replica SET seen = 'infinity'",
            "UPDATE roam.replica SET visit_rev = 9223372036854775807",
            "UPDATE roam.replica SET visit_rev = -9223372036854775808",
            "UPDATE roam.replica SET pulled = 9223372036854775807",
            "UPDATE roam.replica SET push_rev = -9223372036854775808",
        ]
        var refused = 0
        for sql in hostile {
            try server.administer("\(sql) WHERE owner = '\(user)'")
            do {
                try await machine.meet()
                _ = try await machine.pull()
                #expect(try await machine.engine.machines().count == 1)
                try await machine.push(edit("k", "\(sql)"))
            } catch let error as EngineError {
                #expect(error.kind == .damaged, "\(sql)")
                refused += 1
                try server.administer(
                    "UPDATE roam.replica SET visit_rev = 0 WHERE owner = '\(user)'")
            }
        }
        #expect(refused > 0)
        try server.administer(
            "UPDATE roam.account SET rev = 9223372036854775807 WHERE owner = '\(user)'")
        try await machine.meet()
        _ = try await machine.pull()
        let error = await #expect(throws: EngineError.self) {
            try await machine.push(edit("k", "2"))
        }
        #expect(error?.kind == .refused)
    }

    @Test func `Outcomes that no server has written are refused`() async throws {
        let server = try await RoamingServer.shared
        let user = try await server.newUser()
        let machine = try server.machine(of: user)
        try await machine.meet()
        let batch = machine.newBatch([edit("k", "1")])
        let first = try await machine.push(batch)
        #expect(try await machine.push(batch).outcomes == first.outcomes)
        for revision in ["0000000000000000", "8000000000000000", "ffffffffffffffff"] {
            try server.administer(
                """
                UPDATE roam.replica SET outcomes = decode('00\(revision)0000000000000001', 'hex')
                WHERE owner = '\(user)'
                """)
            let error = await #expect(throws: EngineError.self) { try await machine.push(batch) }
            #expect(error?.kind == .damaged)
        }
    }

    @Test func `The time of an edit never overflows`() {
        let numbers = [Int64.min, -1, 0, .max]
        for now in numbers {
            for base in numbers {
                for age in [Duration.zero, .seconds(Int64.max), .seconds(Int64.min)] {
                    let edit = edit("k", "1", age: age, earliest: .known(base))
                    #expect(edit.time(at: now) <= .known(now))
                }
            }
        }
    }

    @Test func `Without room, the keys that do not fit are named, and others go on`() async throws {
        let server = try await RoamingServer.shared
        let user = try await server.newUser()
        try server.administer(
            "UPDATE roam.account SET largest_bytes = 2000, largest_keys = 3 WHERE owner = '\(user)'"
        )
        let machine = try server.machine(of: user)
        try await machine.meet()
        let large = edit("large", String(repeating: "x", count: 3000))
        let error = await #expect(throws: EngineError.self) {
            try await machine.push(edit("a", "1"), large, edit("b", "1"))
        }
        #expect(error?.kind == .full([large.key]))
        machine.lastBatch?.isAnswered = true
        // The server was not put back: it has answered, and the roamer has given the batch up.
        #expect(try await machine.meet().state == .continued)
        try await machine.push(edit("a", "1"), edit("b", "1"))
        try await machine.push(edit("c", nil))
        let fourth = await #expect(throws: EngineError.self) {
            try await machine.push(edit("d", "1"))
        }
        #expect(fourth?.kind == .full([edit("d", nil).key]))
        let counted = try server.administer(
            "SELECT keys, bytes FROM roam.account WHERE owner = '\(user)'")
        let size = 3 * (100 + "org.example.App".utf8.count + 1) + 2
        #expect(counted == "3|\(size)\n")
    }

    @Test func `A full account takes removals, also of values that their writer did not know`()
        async throws
    {
        let server = try await RoamingServer.shared
        let (user, a, b) = try await server.twoMachines()
        try await a.meet()
        try await b.meet()
        let outcomes = try await a.push(
            a.newBatch((0..<8).map { edit("k\($0)", String(repeating: "x", count: 100)) })
        ).outcomes
        try server.administer(
            "UPDATE roam.account SET largest_bytes = bytes, largest_keys = keys WHERE owner = '\(user)'"
        )
        let knowing = try await b.push(edit("k0", nil, base: outcomes[0].mark))
        #expect(knowing.outcomes.map(\.result) == [.stands])
        // What it replaces is kept, which takes a row more.
        let unknowing = try await b.push(edit("k1", nil))
        #expect(unknowing.outcomes.map(\.result) == [.stands])
        #expect(unknowing.losers.count == 1)
        let losing = try await b.push(edit("k2", nil, age: nil))
        #expect(losing.outcomes.map(\.result) == [.lost])
        let error = await #expect(throws: EngineError.self) {
            try await b.push(edit("new", "1"), edit("k3", nil))
        }
        #expect(error?.kind == .full([edit("new", nil).key]))
    }

    @Test func `Nobody roams without an account or with tables of another version`() async throws {
        let server = try await RoamingServer()
        try server.administer("CREATE ROLE stranger LOGIN; GRANT roam_user TO stranger")
        let stranger = try server.machine(of: "stranger")
        let none = await #expect(throws: EngineError.self) { try await stranger.meet() }
        #expect(none?.description.contains("no account") == true)
        let user = try await server.newUser()
        try server.administer("UPDATE roam.schema_version SET version = version + 1")
        let machine = try server.machine(of: user)
        let newer = await #expect(throws: EngineError.self) { try await machine.meet() }
        #expect(newer?.kind == .refused)
        #expect(newer?.description.contains("later version") == true)
        await #expect(throws: SetupError.self) {
            try await ServerSetup.initialize(at: server.postgres.address(), on: server.loop.loop)
        }
    }
}
