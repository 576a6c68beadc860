import DefaultsClient
import KeyedArchive
import Synchronization
import Testing

/// Steps from one version of an application's defaults to the next.
@Suite struct MigrationTests {
    let defaults = Defaults.inMemory()

    private struct Refusal: Error {}

    /// What 1 and 2 have left.
    private static let steps = [
        DefaultsMigration(to: 1) { changes in
            guard changes.isSet(.loudness) else { return }
            changes[.volume] = Double(changes[.loudness]) / 10
            changes.reset(.loudness)
        },
        DefaultsMigration(to: 3) { changes in
            changes[.title] += "!"
        },
    ]

    private var version: DefaultsKey<Int> { DefaultsKey("DefaultsVersion", default: 0) }

    @Test func `The steps run in their order, and once`() async throws {
        defaults[.loudness] = 8
        for _ in 0..<2 {
            #expect(try await defaults.migrate(Self.steps) == 3)
            #expect(defaults[.volume] == 0.8)
            #expect(!defaults.isSet(.loudness))
            #expect(defaults[.title] == "untitled!")
            #expect(defaults[version] == 3)
        }
    }

    @Test func `Only the steps above the domain's version run`() async throws {
        defaults[.loudness] = 8
        defaults[version] = 2
        #expect(try await defaults.migrate(Self.steps) == 3)
        #expect(defaults[.loudness] == 8)
        #expect(defaults[.title] == "untitled!")
    }

    @Test func `A domain of a later version is not changed`() async throws {
        defaults[version] = 4
        let error = await #expect(throws: ClientError.self) {
            try await defaults.migrate(Self.steps)
        }
        #expect(error?.code == .newerVersion)
        #expect(defaults.keys(in: .domain) == ["DefaultsVersion"])
        let none = await #expect(throws: ClientError.self) { try await defaults.migrate([]) }
        #expect(none?.code == .newerVersion)
    }

    @Test func `Without steps nothing is stored`() async throws {
        #expect(try await defaults.migrate([]) == 0)
        #expect(defaults.keys(in: .domain) == [])
    }

    @Test func `A step that throws changes nothing, and earlier steps stay done`() async throws {
        let steps = [
            DefaultsMigration(to: 1) { $0[.loudness] = 1 },
            DefaultsMigration(to: 2) {
                $0[.loudness] = 2
                throw Refusal()
            },
        ]
        for _ in 0..<2 {
            await #expect(throws: Refusal.self) { try await defaults.migrate(steps) }
            #expect(defaults[.loudness] == 1)
            #expect(defaults[version] == 1)
        }
    }

    @Test func `A value that a step cannot read ends it, and is not overwritten`() async throws {
        defaults[DefaultsKey("Loudness", default: "")] = "loud"
        await #expect(throws: DecodingError.self) { try await defaults.migrate(Self.steps) }
        #expect(defaults[DefaultsKey("Loudness", default: "")] == "loud")
        #expect(!defaults.isSet(version))
    }

    @Test func `A step sees the user's own values, and no others`() async throws {
        let defaults = Defaults.inMemory(
            arguments: ["game", "-Title", "x"], managed: { $0[.playSound] = false },
            system: { $0[.loudness] = 3 })
        defaults.register { $0[.volume] = 0.1 }
        try defaults.set("host", for: .nickname, in: .host)
        let seen = Mutex<[String]>([])
        try await defaults.migrate([
            DefaultsMigration(to: 1) { changes in
                let values = [
                    "\(changes[.title])", "\(changes[.playSound])", "\(changes[.loudness])",
                    "\(changes[.volume])", "\(changes[.nickname] ?? "none")",
                ]
                seen.withLock { $0 = values + changes.keys }
            }
        ])
        #expect(seen.withLock { $0 } == ["untitled", "true", "5", "0.5", "none"])
    }

    @Test func `A step sees its own changes`() async throws {
        defaults[.loudness] = 1
        try await defaults.migrate([
            DefaultsMigration(to: 1) { changes in
                changes[.loudness] += 1
                changes[.loudness] += 1
                changes[.title] = "x"
                #expect(changes[.loudness] == 3)
                #expect(changes.keys == ["Loudness", "Title"])
                changes.reset(.title)
                #expect(!changes.isSet(.title))
                #expect(changes[.title] == "untitled")
                #expect(changes.keys == ["Loudness"])
                #expect(changes.isSet(.loudness))
            }
        ])
        #expect(defaults[.loudness] == 3)
        #expect(defaults.keys(in: .domain) == ["DefaultsVersion", "Loudness"])
    }

    @Test func `A change between a step's read and its end makes it run again`()
        async throws
    {
        let runs = Mutex(0)
        try await defaults.migrate([
            DefaultsMigration(to: 1) { [defaults] changes in
                let loudness = changes[.loudness]
                let run = runs.withLock {
                    $0 += 1
                    return $0
                }
                if run < 3 { defaults[.loudness] = loudness + 10 }
                changes[.volume] = Double(loudness)
            }
        ])
        #expect(runs.withLock { $0 } == 3)
        #expect(defaults[.volume] == 25)
    }

    @Test func `A step that never succeeds ends with a conflict`() async {
        let error = await #expect(throws: ClientError.self) {
            try await defaults.migrate([
                DefaultsMigration(to: 1) { [defaults] _ in defaults[.loudness] += 1 }
            ])
        }
        #expect(error?.code == .conflict)
        #expect(!defaults.isSet(version))
    }

    @Test func `A step that changes a locked key is refused`() async {
        let defaults = Defaults.inMemory(locked: ["Title"])
        let error = await #expect(throws: ClientError.self) {
            try await defaults.migrate(Self.steps)
        }
        #expect(error?.code == .locked)
        #expect(defaults[version] == 1)
    }

    @Test func `Tasks that migrate at once run each step once`() async throws {
        let steps = (1...10).map { version in
            DefaultsMigration(to: version) { $0[.loudness] += 1 }
        }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<10 { group.addTask { try await defaults.migrate(steps) } }
            for try await version in group { #expect(version == 10) }
        }
        #expect(defaults[.loudness] == 5 + 10)
    }
}
