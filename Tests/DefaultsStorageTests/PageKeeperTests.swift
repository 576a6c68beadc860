import DefaultsModel
import DefaultsTerms
import Foundation
import Glibc
import Synchronization
import Testing

@testable import DefaultsStorage

/// A page in memory that another program keeps when the process dies.
@Suite struct PageKeeperTests {
    let directory: PrivateDirectory
    let database = UniqueID.random()
    private let scratch: Scratch
    private let manager = Manager()

    init() throws {
        scratch = try Scratch()
        directory = PrivateDirectory(existing: "\(scratch.root)/run")
    }

    /// Keeps duplicates of descriptors, as a service manager does.
    private final class Manager: Sendable {
        private let kept = Mutex<Int32?>(nil)

        var hasPage: Bool { kept.withLock { $0 != nil } }

        /// What the next process gets.
        func keeper(takes: Bool = true) -> PageKeeper {
            PageKeeper(inheriting: kept.withLock { $0.map { dup($0) } }) { descriptor in
                guard takes else { return false }
                self.kept.withLock { $0 = dup(descriptor) }
                return true
            }
        }
    }

    private func open(
        by keeper: PageKeeper?, at current: UInt64 = 1, of other: UniqueID? = nil
    ) throws -> CounterPage {
        let generation = try #require(Generation(rawValue: current))
        return try CounterPage.open(
            in: directory, of: other ?? database, at: generation, durable: generation,
            replayed: [], keeper: keeper)
    }

    private func word(_ word: Int, of page: CounterPage) -> UInt64 { page.mapping.load(word) }

    @Test func `The next process continues with the page of one that was killed`() throws {
        let first = try open(by: manager.keeper())
        let next = try open(by: manager.keeper(), at: 5)
        #expect(word(CounterPageLayout.generationWord, of: next) == 5)
        // The one that clients of the first have mapped.
        #expect(word(CounterPageLayout.generationWord, of: first) == 5)
        #expect(try directory.names() == [])
        #expect(!next.isLost)
    }

    @Test func `Nobody can truncate it`() throws {
        let page = try open(by: manager.keeper())
        let reading = try page.openForReading()
        defer { close(reading) }
        let writing = Glibc.open("/proc/self/fd/\(reading)", O_RDWR)
        defer { close(writing) }
        // Only root can even open it.
        #expect(writing < 0 || ftruncate(writing, 0) == -1)
        #expect(writing < 0 || ftruncate(writing, 1 << 20) == -1)
        #expect(lseek(reading, 0, SEEK_END) == off_t(CounterPageLayout.size))
    }

    @Test func `A page that nobody keeps is not made, and a file is used instead`() throws {
        let page = try open(by: manager.keeper(takes: false))
        #expect(!page.hasNoName && !manager.hasPage)
        #expect(try directory.names() == ["counters"])
    }

    @Test func `The file of a process that had no keeper is voided`() throws {
        let file = try open(by: nil)
        let memory = try open(by: manager.keeper())
        #expect(word(CounterPageLayout.firstSlot, of: file) == .max)
        #expect(memory.hasNoName)
        #expect(try directory.names() == [])
    }

    @Test func `The page of another database, or of one that was restored, is voided`() throws {
        let first = try open(by: manager.keeper(), at: 7)
        let other = try open(by: manager.keeper(), at: 9, of: .random())
        #expect(word(CounterPageLayout.firstSlot, of: first) == .max)
        #expect(word(CounterPageLayout.firstSlot, of: other) == 9)
        let back = try open(by: manager.keeper(), at: 3, of: .random())
        #expect(word(CounterPageLayout.firstSlot, of: other) == .max)
        #expect(word(CounterPageLayout.firstSlot, of: back) == 3)
    }

    @Test func `A process that does not serve in the end voids the page that it got`() throws {
        let first = try open(by: manager.keeper())
        manager.keeper().voidInherited()
        #expect(word(CounterPageLayout.firstSlot, of: first) == .max)
    }

    @Test func `An orderly end voids it, because nobody may keep it longer`() throws {
        let location = scratch.location
        let database = try Database(at: location, pageKeeper: manager.keeper()) { _ in }
        let reading = try database.openCounterPage()
        defer { close(reading) }
        database.close()
        var number: UInt64 = 0
        let offset = off_t(CounterPageLayout.generationWord * 8)
        #expect(pread(reading, &number, 8, offset) == 8 && number == .max)
        let next = try Database(at: location, pageKeeper: manager.keeper()) { _ in }
        let fresh = try next.openCounterPage()
        defer { close(fresh) }
        #expect(pread(fresh, &number, 8, offset) == 8 && number == next.generation.rawValue)
        next.close()
    }
}
