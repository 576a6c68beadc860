import DefaultsClient
import Glibc
import TestTiers
import Testing

/// What once went wrong, each by its symptom.
@Suite(.startsPrograms) struct SymptomTests {
    let defaults = Defaults.inMemory()

    @Test func `A large value in memory reads as what was set`() async throws {
        let text = String(repeating: "x", count: 65_536)
        defaults[.title] = text
        #expect(defaults[.title] == text)
        try await defaults.update(.title) { $0 += "y" }
        #expect(defaults[.title] == text + "y")
    }

    @Test func `Names that are equivalent in Unicode are two keys`() {
        let composed = DefaultsKey("caf\u{e9}", default: 0)
        let decomposed = DefaultsKey("cafe\u{301}", default: 0)
        defaults.apply {
            $0[composed] = 1
            $0[decomposed] = 2
        }
        #expect(defaults[composed] == 1)
        #expect(defaults[decomposed] == 2)
        #expect(
            defaults.keys().map { Array($0.utf8) } == [
                Array("cafe\u{301}".utf8), Array("caf\u{e9}".utf8),
            ])
    }

    @Test func `Nil removes the value of an optional that has a default, and stores no null`() {
        let key = DefaultsKey<Int?>("Number", default: 5)
        #expect(defaults[key] == 5)
        defaults[key] = 1
        #expect(defaults[key] == 1)
        defaults[key] = nil
        #expect(!defaults.isSet(key))
        #expect(defaults[key] == 5)
        let plain = DefaultsKey<Int?>("Plain", default: nil)
        defaults[plain] = 1
        defaults[plain] = nil
        #expect(!defaults.isSet(plain))
    }

    @Test func `A value that was set before the first fetch is reported once`() async {
        let values = defaults.values(of: .loudness)
        defaults[.loudness] = 6
        var iterator = values.makeAsyncIterator()
        #expect(await iterator.next() == 6)
        defaults[.loudness] = 7
        #expect(await iterator.next() == 7)
    }

    @Test(arguments: [
        ("org.example.Test@host", "layer"), ("", "empty"), ("a..b", "byte 2"), ("é", "byte 0"),
        (String(repeating: "a", count: 256), "256"),
    ])
    func `A wrong name of a domain is an error at once`(domain: String, word: String) {
        let error = #expect(throws: DefaultsError.self) {
            try Defaults(validating: domain, arguments: [])
        }
        #expect(error?.code == .invalidName)
        #expect(error?.message.contains(word) == true)
    }

    @Test func `A program with a wrong name of its domain ends with a sentence`() async {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            _ = Defaults(domain: "org.example.Test@host", arguments: [])
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("is not the name of a domain"))
    }

    @Test func `An ID of a Flatpak that is no domain is not used`() async {
        await #expect(processExitsWith: .success) {
            setenv("FLATPAK_ID", "a..b", 1)
            #expect(Defaults.standard.domain != "a..b")
            setenv("FLATPAK_ID", "org.example.Flatpak", 1)
        }
    }

    @Test func `Standard defaults that were used before they are set say so`() async {
        let result = await #expect(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) {
            let guess = Defaults.standard.domain
            Defaults.standard = Defaults(domain: guess, arguments: [])
            Defaults.standard = Defaults(domain: "org.example.Other", arguments: [])
        }
        #expect(result?.standardErrorContent == [])
        let late = await #expect(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) {
            _ = Default(.playSound)
            Defaults.standard = Defaults(domain: "org.example.Game", arguments: [])
        }
        let text = String(decoding: late?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("before it was set to org.example.Game"))
    }

    @Test(arguments: ["", "a\0b", String(repeating: "k", count: 1025)])
    func `A name that the service refuses is refused in memory too`(name: String) async throws {
        var failures = defaults.failures.makeAsyncIterator()
        let key = DefaultsKey(name, default: 0)
        defaults[key] = 1
        let failure = try #require(await failures.next())
        #expect(failure.error.code == .invalidName)
        #expect(defaults[key] == 0)
    }

    @Test func `Updates of one process take turns, and each is made once`() async throws {
        try await withThrowingTaskGroup { group in
            for _ in 0..<20 {
                group.addTask { [defaults] in
                    for _ in 0..<20 { try await defaults.update(.loudness) { $0 += 1 } }
                }
            }
            try await group.waitForAll()
        }
        #expect(defaults[.loudness] == 405)
    }

    @Test func `A task that is cancelled while it waits for its turn passes the turn on`()
        async throws
    {
        let tasks = (0..<50).map { _ in
            Task { [defaults] in try await defaults.update(.loudness) { $0 += 1 } }
        }
        for task in tasks { task.cancel() }
        for task in tasks { _ = await task.result }
        try await defaults.update(.loudness) { $0 = 1 }
        #expect(defaults[.loudness] == 1)
    }

    @Test func `Among many waiting changes, a key has its newest value`() {
        // Nobody is at this bus, so that all wait.
        let defaults = Defaults(
            domain: "org.example.Test", on: .address("unix:path=/nowhere"), arguments: [])
        for number in 0..<2000 {
            defaults.apply {
                $0[.loudness] = number
                $0[DefaultsKey("Key \(number)", default: 0)] = number
            }
        }
        #expect(defaults[.loudness] == 1999)
        #expect(defaults[DefaultsKey("Key 7", default: 0)] == 7)
        #expect(defaults.keys(in: .domain).count == 2001)
        defaults.reset(.loudness)
        #expect(defaults[.loudness] == 5)
    }
}
