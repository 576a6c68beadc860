import DefaultsModel
import Foundation
import Glibc
import SystemCalls
import TestTiers
import Testing

@testable import DefaultsStorage

/// The page of counters as a client sees it, whatever happens to its file.
///
/// The numbers in the names are those of the invariants of `CounterPage`.
@Suite(.startsPrograms) struct CounterPageTests {
    let scratch: Scratch
    let directory: PrivateDirectory
    let database = UniqueID.random()
    let path: String

    init() throws {
        scratch = try Scratch()
        directory = PrivateDirectory(existing: "\(scratch.root)/run")
        path = directory.file("counters")
    }

    func open(
        at current: UInt64, durable: UInt64 = 1, replayed: [ChangeSet]? = [],
        of other: UniqueID? = nil
    ) throws -> CounterPage {
        try CounterPage.open(
            in: directory, of: other ?? database, at: generation(current),
            durable: generation(durable), replayed: replayed)
    }

    func generation(_ number: UInt64) throws -> Generation {
        try #require(Generation(rawValue: number))
    }

    func change(_ domain: String, _ number: UInt64) throws -> ChangeSet {
        ChangeSet(
            generation: try generation(number),
            proposal: ChangeProposal(
                domain: try Domain(domain, on: .localhost),
                set: [.init(key: try Key("key"), archive: [1])], origin: ":1.1"))
    }

    /// What a page looks like on which all slots but some have the same number.
    func expect(
        _ page: CounterPageClient.Page, at current: UInt64, slots: [UInt64: Int],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let zeros = [UInt64](repeating: 0, count: 13)
        #expect(page.header == [1, 4080, current] + zeros, sourceLocation: sourceLocation)
        #expect(page.slots == slots, sourceLocation: sourceLocation)
        #expect(page.size == 32768, sourceLocation: sourceLocation)
        #expect(page.database == database.description, sourceLocation: sourceLocation)
        #expect(page.mode == "0o100600", sourceLocation: sourceLocation)
    }

    let voided: [UInt64: Int] = [.max: 4080]

    @Test("A new page has its header, the current generation in every slot, and all its space")
    func layout() throws {
        let page = try open(at: 41)
        try expect(CounterPageClient.look(at: path), at: 41, slots: [41: 4080])
        var status = stat()
        #expect(stat(path, &status) == 0)
        #expect(status.st_blocks * 512 >= 32768)
        #expect(try directory.names() == ["counters"])
        #expect(!page.isLost)
    }

    @Test("1: a change is in its domain's slot, as Python's FNV finds it, and in word 2")
    func changes() throws {
        let page = try open(at: 1)
        let client = try CounterPageClient(mapping: path)
        let long = [String](repeating: "an-element", count: 20).joined(separator: ".")
        for (number, name) in ["NSGlobalDomain", "org.example.App", "a", long].enumerated() {
            let number = UInt64(number) + 2
            page.note(try change(name, number))
            let seen = try client.look(name)
            #expect(seen.domains == [name: number])
            expect(seen, at: number, slots: slots(through: number))
        }
    }

    private func slots(through number: UInt64) -> [UInt64: Int] {
        var slots: [UInt64: Int] = [1: 4080 - Int(number - 1)]
        for changed in 2...number { slots[changed] = 1 }
        return slots
    }

    @Test("1: the layers of a domain share its slot")
    func layers() throws {
        let page = try open(at: 1)
        page.note(try change("org.example.App@host", 2))
        page.note(try change("org.example.App@host:elsewhere", 3))
        let seen = try CounterPageClient.look(at: path, "org.example.App")
        #expect(seen.domains == ["org.example.App": 3])
        expect(seen, at: 3, slots: [1: 4079, 3: 1])
    }

    @Test("1: many domains on one slot do not touch the other slots")
    func collisions() throws {
        let page = try open(at: 1)
        let slot = CounterPage.slot(of: try Domain("org.example.App", on: .localhost))
        var number: UInt64 = 1
        for candidate in 0..<1_000_000 where number <= 20 {
            let domain = try change("org.example.App\(candidate)", number + 1)
            guard CounterPage.slot(of: domain.domain) == slot else { continue }
            number += 1
            page.note(domain)
        }
        try #require(number == 21)
        let seen = try CounterPageClient.look(at: path, "org.example.App")
        #expect(seen.domains == ["org.example.App": 21])
        expect(seen, at: 21, slots: [1: 4079, 21: 1])
    }

    @Test("2: a word never falls")
    func neverFalls() throws {
        let page = try open(at: 9)
        page.note(try change("org.example.App", 7))
        try expect(CounterPageClient.look(at: path), at: 9, slots: [9: 4080])
    }

    @Test("4: the next process keeps the file, and clients that have mapped it see its changes")
    func kept() throws {
        let client: CounterPageClient
        let before: CounterPageClient.Page
        do {
            let first = try open(at: 1)
            client = try CounterPageClient(mapping: path)
            first.note(try change("org.example.App", 2))
            before = try client.look()
        }
        let second = try open(at: 2, durable: 2)
        #expect(try client.look() == before)
        second.note(try change("org.example.Game", 3))
        let after = try client.look("org.example.App", "org.example.Game")
        #expect(after.domains == ["org.example.App": 2, "org.example.Game": 3])
        #expect(try CounterPageClient.look(at: path).inode == before.inode)
    }

    @Test("3: the next process shows the changes of one that died between journal and slot")
    func diedBeforeSlot() throws {
        do { try open(at: 1).note(change("org.example.App", 2)) }
        let client = try CounterPageClient(mapping: path)
        let replayed = [try change("org.example.App", 2), try change("org.example.Game@host", 3)]
        let page = try open(at: 3, replayed: replayed)
        let seen = try client.look("org.example.App", "org.example.Game")
        #expect(seen.domains == ["org.example.App": 2, "org.example.Game": 3])
        expect(seen, at: 3, slots: [1: 4078, 2: 1, 3: 1])
        #expect(!page.isLost)
    }

    @Test("3: the next process raises word 2 for one that died between slot and word 2")
    func diedBeforeWordTwo() throws {
        do { try open(at: 1).note(change("org.example.App", 2)) }
        try CounterPageClient.change(path, by: "put(2, 1)")
        _ = try open(at: 2, replayed: [change("org.example.App", 2)])
        try expect(CounterPageClient.look(at: path), at: 2, slots: [1: 4079, 2: 1])
    }

    @Test("5: durable changes that another process made without the page raise every slot")
    func writtenWithout() throws {
        do { try open(at: 1).note(change("org.example.App", 2)) }
        let client = try CounterPageClient(mapping: path)
        let page = try open(at: 5, durable: 4, replayed: [change("org.example.App", 5)])
        try expect(client.look(), at: 5, slots: [5: 4080])
        #expect(!page.isLost)
    }

    @Test("5: if the numbers have jumped, every slot is raised, even if word 2 is ahead")
    func jumped() throws {
        do { try open(at: 1).note(change("org.example.App", 2)) }
        let client = try CounterPageClient(mapping: path)
        _ = try open(at: 1 << 20, durable: 1, replayed: nil)
        try expect(client.look(), at: 1 << 20, slots: [1 << 20: 4080])
    }

    @Test(
        "4: a damaged page, or one of another database, is voided and replaced",
        arguments: [
            "put(0, 2)", "put(1, 4081)", "put(2, 6)", "put(3, 1)", "put(4, 1)",
            "f.seek(0, 2); f.write(bytes(8))", "f.truncate(32760)", "f.truncate(200)",
            "f.truncate(0)",
        ])
    func replaced(damage: String) throws {
        do { try open(at: 1).note(change("org.example.App", 5)) }
        let client = try CounterPageClient(mapping: path)
        let earlier = try client.look()
        try CounterPageClient.change(path, by: damage)
        let page = try open(at: 5, durable: 5)
        let seen = try client.look()
        #expect(seen.slots == voided)
        #expect(seen.header[2] == .max)
        let new = try CounterPageClient.look(at: path)
        #expect(new.inode != earlier.inode)
        expect(new, at: 5, slots: [5: 4080])
        page.note(try change("org.example.App", 6))
        #expect(try client.look().slots == voided)
        #expect(try directory.names() == ["counters"])
    }

    @Test("4: a database that is created again in the same place has a new page")
    func madeAnew() throws {
        do { try open(at: 1, of: .random()).note(change("org.example.App", 500)) }
        let client = try CounterPageClient(mapping: path)
        _ = try open(at: 1)
        #expect(try client.look().slots == voided)
        try expect(CounterPageClient.look(at: path), at: 1, slots: [1: 4080])
    }

    @Test("6: a voided page is current for no copy, and is not used again")
    func voiding() throws {
        let page = try open(at: 3)
        let client = try CounterPageClient(mapping: path)
        page.void()
        #expect(page.isLost)
        #expect(try client.look().slots == voided)
        page.note(try change("org.example.App", 4))
        #expect(try client.look().slots == voided)
        _ = try open(at: 4, durable: 4)
        try expect(CounterPageClient.look(at: path), at: 4, slots: [4: 4080])
    }

    @Test("6: a page that a process began to void is voided completely", arguments: [3, 17, 4000])
    func halfVoided(words: Int) throws {
        do { _ = try open(at: 3) }
        let client = try CounterPageClient(mapping: path)
        try CounterPageClient.change(path, by: "put(2, *([2**64 - 1] * \(words - 2)))")
        _ = try open(at: 3)
        #expect(try client.look().slots == voided)
        try expect(CounterPageClient.look(at: path), at: 3, slots: [3: 4080])
    }

    @Test("6: a page in a directory that is no longer used is voided and removed")
    func givenUp() throws {
        try CounterPage.voidPage(in: directory)
        try CounterPage.voidPage(in: PrivateDirectory(existing: "\(scratch.root)/nowhere"))
        let page = try open(at: 3)
        let client = try CounterPageClient(mapping: path)
        try CounterPage.voidPage(in: directory)
        #expect(try client.look().slots == voided)
        #expect(try directory.names() == [])
        #expect(page.isLost)
    }

    @Test("6: a page that another process has voided stays void, whatever this one writes")
    func voidedByAnother() throws {
        let page = try open(at: 3)
        let client = try CounterPageClient(mapping: path)
        try CounterPage.voidPage(in: directory)
        page.note(try change("org.example.App", 4))
        #expect(try client.look().slots == voided)
    }

    @Test(
        "A page that the next process would not find is voided",
        arguments: ["rm -r run", "rm run/counters", "mv run old; cp -a old run", "mv run old"])
    func lost(by command: String) throws {
        let page = try open(at: 3)
        let client = try CounterPageClient(mapping: path)
        #expect(!page.isLost)
        _ = try Scratch.output(of: "sh", "-c", "cd '\(scratch.root)'; \(command)")
        #expect(page.isLost)
        page.void()
        #expect(try client.look().slots == voided)
    }

    @Test(
        "7: a mapped file that is truncated gets its size back and is void; nobody crashes",
        arguments: [0, 8, 4096, 32767])
    func cut(to size: Int) throws {
        let page = try open(at: 3)
        let client = try CounterPageClient(mapping: path)
        try CounterPageClient.change(path, by: "f.truncate(\(size))")
        #expect(page.isLost)
        page.note(try change("org.example.App", 4))
        #expect(page.isLost)
        let seen = try client.look()
        #expect(seen.size == 32768)
        #expect(seen.slots == voided)
        _ = try open(at: 4, durable: 4)
        try expect(CounterPageClient.look(at: path), at: 4, slots: [4: 4080])
    }

    @Test("A client can only read through its descriptor, even when the name is gone")
    func readingOnly() throws {
        let page = try open(at: 3)
        try FileManager.default.removeItem(atPath: path)
        let descriptor = try page.openForReading()
        defer { close(descriptor) }
        #expect(fcntl(descriptor, F_GETFD) == FD_CLOEXEC)
        #expect(fcntl(descriptor, F_GETFL) & O_ACCMODE == O_RDONLY)
        #expect(write(descriptor, "x", 1) == -1)
        #expect(ftruncate(descriptor, 0) == -1)
        let mapped = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        #expect(mapped == MAP_FAILED)
        let own = "/proc/\(getpid())/fd/\(descriptor)"
        try expect(CounterPageClient.look(at: own), at: 3, slots: [3: 4080])
    }

    @Test("Unfinished files of an earlier process disturb nobody, and a start removes them")
    func unfinished() throws {
        let left = directory.file("counters.unfinished")
        try Data(repeating: 7, count: 50_000).write(to: URL(fileURLWithPath: left))
        _ = try open(at: 3)
        try expect(CounterPageClient.look(at: path), at: 3, slots: [3: 4080])
        try Data([7]).write(to: URL(fileURLWithPath: left))
        _ = try JournalHistory(of: database, boot: Scratch.boot, in: [directory]) { _ in }
        #expect(try directory.names() == ["counters"])
    }

    @Test("Only the owner can open a page, whatever the umask and its mode before")
    func mode() throws {
        do { _ = try open(at: 3) }
        chmod(path, 0o666)
        _ = try open(at: 3)
        try expect(CounterPageClient.look(at: path), at: 3, slots: [3: 4080])
    }

    @Test("A link in its place is not followed")
    func link() throws {
        let other = "\(scratch.root)/other"
        let content = Data(repeating: 1, count: 32768)
        try content.write(to: URL(fileURLWithPath: other))
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: other)
        let error = #expect(throws: CounterPage.Failure.self) { _ = try open(at: 3) }
        guard case .notVoided(let cause) = error else {
            Issue.record("it failed otherwise")
            return
        }
        #expect(cause.number == ELOOP)
        #expect(try Data(contentsOf: URL(fileURLWithPath: other)) == content)
    }
}

/// A runtime directory without space.
@Suite(
    .startsPrograms,
    .enabled(if: SmallFileSystem.isAvailable, "only root may mount a small file system"))
struct CounterPageFullTests {
    private let disk: SmallFileSystem
    private let directory: PrivateDirectory
    private let database = UniqueID.random()
    private let path: String

    init() throws {
        disk = try SmallFileSystem()
        directory = PrivateDirectory(existing: disk.path)
        path = directory.file("counters")
    }

    private func open(at current: Generation) throws -> CounterPage {
        try CounterPage.open(
            in: directory, of: database, at: current, durable: .first, replayed: [])
    }

    private func change(_ number: UInt64) throws -> ChangeSet {
        ChangeSet(
            generation: Generation.first.advanced(by: number - 1),
            proposal: ChangeProposal(
                domain: try Domain("org.example.App", on: .localhost),
                set: [.init(key: try Key("key"), archive: [1])], origin: ":1.1"))
    }

    @Test("A page for which there is no space leaves nothing behind")
    func noSpace() throws {
        try disk.fill()
        let error = #expect(throws: CounterPage.Failure.self) { _ = try open(at: .first) }
        guard case .notMade(let cause) = error else {
            Issue.record("it failed otherwise")
            return
        }
        #expect(cause.number == ENOSPC)
        #expect(try directory.names() == ["filling"])
        try disk.empty()
        #expect(try !open(at: .first).isLost)
    }

    @Test("An existing page needs no space: for a change, for the next process, for voiding")
    func needsNone() throws {
        let client: CounterPageClient
        do {
            let page = try open(at: .first)
            client = try CounterPageClient(mapping: path)
            try disk.fill()
            page.note(try change(2))
        }
        let page = try open(at: .first.advanced(by: 1))
        page.note(try change(3))
        #expect(try client.look("org.example.App").domains == ["org.example.App": 3])
        page.void()
        #expect(try client.look().slots == [.max: 4080])
    }

    @Test("7: a page that is truncated, without space to lengthen it again, ends nobody")
    func cutWithoutSpace() throws {
        let page = try open(at: .first)
        try CounterPageClient.change(path, by: "f.truncate(4096)")
        try disk.fill()
        page.note(try change(2))
        page.note(try change(3))
        #expect(page.isLost)
    }
}
