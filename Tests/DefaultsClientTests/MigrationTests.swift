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
        DefaultsMigration(to: 1) { edits in
            try edits.move(.loudness, to: .volume) { Double($0) / 10 }
        },
        DefaultsMigration(to: 3) { edits in
            try edits.set((edits.value(of: .title) ?? "untitled") + "!", for: .title)
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
        let error = await #expect(throws: DefaultsError.self) {
            try await defaults.migrate(Self.steps)
        }
        #expect(error?.code == .newerVersion)
        #expect(defaults.keys(in: .domain) == ["DefaultsVersion"])
        let none = await #expect(throws: DefaultsError.self) { try await defaults.migrate([]) }
        #expect(none?.code == .newerVersion)
    }

    @Test func `Without steps nothing is stored`() async throws {
        #expect(try await defaults.migrate([]) == 0)
        #expect(defaults.keys(in: .domain) == [])
    }

    @Test func `A step that throws changes nothing, and earlier steps stay done`() async throws {
        let steps = [
            DefaultsMigration(to: 1) { try $0.set(1, for: .loudness) },
            DefaultsMigration(to: 2) {
                try $0.set(2, for: .loudness)
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
        let error = await #expect(throws: DefaultsError.self) {
            try await defaults.migrate(Self.steps)
        }
        #expect(error?.code == .undecodable)
        #expect(defaults[DefaultsKey("Loudness", default: "")] == "loud")
        #expect(!defaults.isSet(version))
    }

    @Test func `A step sees the user's own values, and no others`() async throws {
        let defaults = Defaults.inMemory(
            arguments: ["game", "-Title", "x"], managed: { $0[.playSound] = false },
            system: { $0[.loudness] = 3 })
        defaults.register { $0[.volume] = 0.1 }
        try defaults.set("host", for: .nickname, in: .host)
        let seen = Mutex<[Bool]>([])
        try await defaults.migrate([
            DefaultsMigration(to: 1) { edits in
                let values: [Any?] = [
                    try edits.value(of: .title), try edits.value(of: .playSound),
                    try edits.value(of: .loudness), try edits.value(of: .volume),
                ]
                let areNone = values.map { $0 == nil }
                let nickname = try edits.value(of: .nickname)
                let keys = edits.keys
                seen.withLock { $0 = areNone + [nickname == nil, keys.isEmpty] }
            }
        ])
        #expect(seen.withLock { $0 } == Array(repeating: true, count: 6))
    }

    @Test func `A step changes nothing for a user who has set nothing`() async throws {
        let defaults = Defaults.inMemory(system: { $0[.loudness] = 3 })
        try await defaults.migrate([
            DefaultsMigration(to: 1) { edits in
                try edits.move(.loudness, to: .volume) { Double($0) / 10 }
                try edits.copy(.title, to: DefaultsKey("Heading", default: ""))
                try edits.change(.nickname) { $0 = "ada" }
                try edits.change(.loudness) { $0 += 1 }
                edits.reset(.title, .volume)
            }
        ])
        #expect(defaults.keys(in: .domain) == ["DefaultsVersion"])
        #expect(defaults[.loudness] == 3)
    }

    @Test func `A value that is moved does not replace one that the user has set`() async throws {
        defaults[.loudness] = 8
        defaults[.volume] = 0.25
        try await defaults.migrate([
            DefaultsMigration(to: 1) { try $0.move(.loudness, to: .volume) { Double($0) / 10 } }
        ])
        #expect(defaults[.volume] == 0.25)
        #expect(!defaults.isSet(.loudness))
    }

    @Test func `A value that is moved to its own name gets the other type`() async throws {
        defaults[.loudness] = 8
        try await defaults.migrate([
            DefaultsMigration(to: 1) { edits in
                try edits.move(.loudness, to: DefaultsKey("Loudness", default: "")) { "\($0) dB" }
                try edits.move(.title, to: .title)
            }
        ])
        #expect(defaults[DefaultsKey("Loudness", default: "")] == "8 dB")
        #expect(defaults.keys(in: .domain) == ["DefaultsVersion", "Loudness"])
    }

    @Test func `A change for all domains does not keep a later migration from its end`()
        async throws
    {
        try defaults.set(3, for: .loudness, in: .global)
        defaults[.volume] = 1
        #expect(try await defaults.migrate(Self.steps) == 3)
    }

    @Test func `Resetting everything does not make the steps run again`() async throws {
        try await defaults.migrate(Self.steps)
        defaults.resetAll()
        defaults[.loudness] = 8
        try await defaults.migrate(Self.steps)
        #expect(defaults[.loudness] == 8)
    }

    @Test func `A step sees its own changes`() async throws {
        defaults[.loudness] = 1
        try await defaults.migrate([
            DefaultsMigration(to: 1) { edits in
                try edits.change(.loudness) { $0 += 1 }
                try edits.change(.loudness) { $0 += 1 }
                try edits.set("x", for: .title)
                #expect(try edits.value(of: .loudness) == 3)
                #expect(edits.keys == ["Loudness", "Title"])
                edits.reset(.title)
                #expect(!edits.isSet(.title))
                #expect(try edits.value(of: .title) == nil)
                #expect(edits.keys == ["Loudness"])
                #expect(edits.isSet(.loudness))
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
            DefaultsMigration(to: 1) { [defaults] edits in
                let loudness = try edits.value(of: .loudness) ?? 5
                let run = runs.withLock {
                    $0 += 1
                    return $0
                }
                if run < 3 { defaults[.loudness] = loudness + 10 }
                try edits.set(Double(loudness), for: .volume)
            }
        ])
        #expect(runs.withLock { $0 } == 3)
        #expect(defaults[.volume] == 25)
    }

    @Test func `A step that never succeeds ends with a conflict`() async {
        let error = await #expect(throws: DefaultsError.self) {
            try await defaults.migrate([
                DefaultsMigration(to: 1) { [defaults] _ in defaults[.loudness] += 1 }
            ])
        }
        #expect(error?.code == .conflict)
        #expect(!defaults.isSet(version))
    }

    @Test func `A step that changes a locked key is refused`() async {
        let defaults = Defaults.inMemory(locked: ["Title"])
        let error = await #expect(throws: DefaultsError.self) {
            try await defaults.migrate(Self.steps)
        }
        #expect(error?.code == .locked)
        #expect(defaults[version] == 1)
    }

    @Test func `Tasks that migrate at once run each step once`() async throws {
        let steps = (1...10).map { version in
            DefaultsMigration(to: version) { edits in
                try edits.set((edits.value(of: .loudness) ?? 5) + 1, for: .loudness)
            }
        }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<10 { group.addTask { try await defaults.migrate(steps) } }
            for try await version in group { #expect(version == 10) }
        }
        #expect(defaults[.loudness] == 5 + 10)
    }
}
