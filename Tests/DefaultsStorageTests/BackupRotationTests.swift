import DefaultsModel
import TestSupport
import Testing

@testable import DefaultsStorage

/// The numbers in the names are those of the invariants of `BackupRotation`.
@Suite struct BackupRotationTests {
    private static let day = BackupRotation.day

    private func backup(
        _ generation: UInt64, at date: UInt64, _ kind: Backup.Kind = .daily
    ) throws -> Backup {
        let number = try #require(Generation(rawValue: generation))
        let name = BackupName(date: date, generation: number, kind: kind).description
        return Backup(
            name: name, date: date, generation: number, kind: kind, size: 1, path: "/\(name).db")
    }

    @Test("The newest backup is that of the last generation, whatever the clock says")
    func order() throws {
        let backups = [try backup(2, at: 50), try backup(1, at: 99), try backup(2, at: 40)]
        #expect(backups.sorted(by: >).map(\.date) == [50, 40, 99])
    }

    @Test(
        "3: a daily backup is due if there is none, and a day before and after the last",
        arguments: [
            (0, false), (1, false), (day - 1, false), (day, true), (400 * day, true),
        ] as [(UInt64, Bool)])
    func due(distance: UInt64, isDue: Bool) throws {
        let now: UInt64 = 1_795_290_000
        let generation = try #require(Generation(rawValue: 9))
        #expect(BackupRotation([]).isDailyDue(at: now, generation: generation))
        for date in [now - distance, now + distance] {
            let backups = [try backup(5, at: date), try backup(4, at: 0)]
            #expect(
                BackupRotation(backups).isDailyDue(at: now, generation: generation) == isDue)
        }
    }

    @Test("Manual backups do not put off the daily one, unless nothing has changed since")
    func manual() throws {
        let rotation = BackupRotation([try backup(5, at: 100, .manual)])
        let (same, next) = (Generation(rawValue: 5), Generation(rawValue: 6))
        #expect(try !rotation.isDailyDue(at: 100, generation: #require(same)))
        #expect(try !rotation.isDailyDue(at: 900 * Self.day, generation: #require(same)))
        #expect(try rotation.isDailyDue(at: 100, generation: #require(next)))
    }

    @Test("A daily backup of an earlier database in this place does not count")
    func foreignDaily() throws {
        let rotation = BackupRotation([try backup(500, at: 100)])
        #expect(try rotation.isDailyDue(at: 100, generation: #require(Generation(rawValue: 3))))
    }

    @Test("1: the oldest beyond seven of one kind are removed, and none of the other kind")
    func surplus() throws {
        let dailies = try (1...9).map { try backup($0, at: 1000 - $0) }
        let manuals = try (1...9).map { try backup($0, at: $0, .manual) }
        let made = try backup(10, at: 1)
        var random = SeededGenerator()
        let rotation = BackupRotation((dailies + manuals + [made]).shuffled(using: &random))
        #expect(rotation.surplus(after: made) == [dailies[2], dailies[1], dailies[0]])
        #expect(
            rotation.surplus(after: made, sparing: dailies[1]) == [dailies[2], dailies[0]])
        #expect(BackupRotation(Array(dailies.prefix(6)) + [made]).surplus(after: made) == [])
    }

    @Test("1: backups that programs ask for never replace those that the user has made")
    func programs() throws {
        let manuals = try (1...7).map { try backup($0, at: $0, .manual) }
        let programs = try (11...30).map { try backup($0, at: $0, .program) }
        let rotation = BackupRotation(manuals + programs)
        let surplus = rotation.surplus(after: try #require(programs.last))
        #expect(surplus.count == 13)
        #expect(surplus.allSatisfy { $0.kind == .program })
    }

    @Test("1: those of an earlier database in this place go first, and never the new one")
    func foreignSurplus() throws {
        let foreign = try (1...7).map { try backup(1000 + $0, at: $0) }
        let own = try backup(2, at: 50)
        let made = try backup(3, at: 51)
        let rotation = BackupRotation(foreign + [own, made])
        #expect(rotation.surplus(after: made) == [foreign[1], foreign[0]])
    }
}
