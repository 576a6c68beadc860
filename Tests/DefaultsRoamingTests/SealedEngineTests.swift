import DBus
import KeyedArchive
import RoamingTerms
import TestSupport
import Testing

@testable import DefaultsRoaming

@Suite("A sealed engine")
final class SealedEngineTests {
    let place = RecordingEngine()
    let key = MasterKey.random()
    let replica = ReplicaID.random()
    let loop: EventLoop

    init() throws {
        loop = try EventLoop.startThread(named: "sealed")
    }

    deinit { loop.stop() }

    /// An engine that has met.
    private func engine(_ key: MasterKey) async throws -> SealedEngine {
        let engine = SealedEngine(place, on: loop) { _ in key }
        _ = try await engine.meet(replica, named: "laptop", known: nil, lastBatch: nil)
        return engine
    }

    private func batch(_ values: [(RoamingKey, [UInt8]?)], number: UInt64 = 1) -> Batch {
        Batch(
            number: number, nonce: ReplicaID.random().bytes,
            edits: values.map {
                Edit(key: $0.0, archive: $0.1, age: nil, base: nil, earliest: .unknown)
            })
    }

    private func archive(_ text: String) throws -> [UInt8] {
        try KeyedArchiveEncoder().encode(text).bytes
    }

    private let font = RoamingKey(domain: "org.example.Editor", name: "FontName")
    private let size = RoamingKey(domain: "org.example.Editor", name: "FontSize")

    private func sealed(_ key: RoamingKey) -> RoamingKey {
        RoamingKey(domain: RoamTerms.sealed, name: Seal(self.key).name(of: key))
    }

    @Test("gives others what was pushed, under its names")
    func roundTrip() async throws {
        let values = [(font, try archive("Cantarell")), (size, nil)]
        let (outcomes, _) = try await engine(key).push(batch(values))
        #expect(outcomes.map(\.key) == [font, size])
        let page = try await engine(key).pull(after: 0, limit: 1000)
        #expect(Set(page.versions.map(\.key)) == [font, size])
        for version in page.versions {
            #expect(version.archive == (version.key == font ? values[0].1 : nil))
        }
    }

    /// Stretches of a text that must not be found: all of six bytes.
    private func pieces(of text: String) -> [[UInt8]] {
        let bytes = Array(text.utf8)
        return (0...max(0, bytes.count - 6)).map { Array(bytes[$0..<min($0 + 6, bytes.count)]) }
    }

    @Test("gives the place no name and no value of 1 000, and no piece of one")
    func secret() async throws {
        var values: [(RoamingKey, [UInt8]?)] = []
        var texts: Set<String> = ["laptop"]
        var random = SeededGenerator()
        let bytes = (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }
        let key = try #require(MasterKey(bytes: bytes))
        func word() -> String {
            let word = String(
                (0..<12).map { _ in "abcdefghijklmnopqrstuvwxyz".randomElement(using: &random)! })
            texts.insert(word)
            return word
        }
        for _ in 0..<1000 {
            let key = RoamingKey(domain: "org.example.\(word())", name: word())
            values.append((key, try archive(word())))
        }
        let engine = try await engine(key)
        _ = try await engine.push(batch(values))
        // Once more, so that each value loses.
        let second = values.map { ($0.0, Bool.random(using: &random) ? nil : $0.1) }
        let (_, losers) = try await engine.push(batch(second, number: 2))
        #expect(losers.count == 1000)
        #expect(Set(losers.map(\.key)) == Set(values.map(\.0)))
        let (versions, lost, names) = await (place.versions, place.losers, place.names)
        let keys = Set(versions.keys.map(\.name)).union(lost.map(\.key.name))
        var seen: [UInt8] = []
        for text in keys.sorted() + names.values { seen += Array(text.utf8) + [0] }
        for version in versions.values { seen += version.archive ?? [] }
        for loser in lost { seen += loser.archive ?? [] }
        #expect(Set(versions.keys.map(\.domain)) == [RoamTerms.sealed])
        var windows: Set<[UInt8]> = []
        for text in texts { windows.formUnion(pieces(of: text)) }
        windows.formUnion(pieces(of: "org.example."))
        windows.formUnion(pieces(of: "bplist00"))
        windows.formUnion(pieces(of: "NSKeyedArchiver"))
        let found = (0..<seen.count - 6).filter { windows.contains(Array(seen[$0..<$0 + 6])) }
        // The names there are letters, which are a piece of one of these by chance at 1 of 40 seeds.
        #expect(found.count <= 1)
        #expect(Set(versions.values.map { $0.archive?.count }).count <= 2)
    }

    @Test("refuses and tells what was swapped, forged or removed, and goes on with the others")
    func enemy() async throws {
        let engine = try await engine(key)
        let third = RoamingKey(domain: "org.example.Editor", name: "Theme")
        _ = try await engine.push(
            batch([(font, try archive("a")), (size, try archive("b")), (third, try archive("c"))]))
        let stored = await place.versions
        await place.put(stored[sealed(size)]?.archive, under: sealed(font))
        await place.put(nil, under: sealed(size))
        let stranger = RoamingKey(domain: RoamTerms.sealed, name: "stranger")
        await place.put([1, 2, 3], under: stranger)
        let page = try await engine.pull(after: 0, limit: 1000)
        #expect(page.versions.map(\.key) == [third])
        #expect(await Set(engine.refusals.keys) == [sealed(font), sealed(size), stranger])
        // What is mended is not told any more.
        await place.put(stored[sealed(font)]?.archive, under: sealed(font))
        _ = try await engine.pull(after: 0, limit: 1000)
        #expect(await Set(engine.refusals.keys) == [sealed(size), stranger])
        // What the inner engine refuses is told as well.
        await place.refuse(sealed(third), because: "it is damaged")
        #expect(await engine.refusals[sealed(third)] == "it is damaged")
    }

    @Test("forgets what lost and nobody can use, and names the others when they are kept")
    func losers() async throws {
        let engine = try await engine(key)
        await place.put([9, 9], under: sealed(font))
        let (_, none) = try await engine.push(batch([(font, try archive("a"))]))
        #expect(none.isEmpty)
        #expect(await place.losers.isEmpty)
        let (_, lost) = try await engine.push(batch([(font, try archive("b"))], number: 2))
        #expect(lost.map(\.archive) == [try archive("a")])
        let there = await place.losers
        try await engine.noteKept(lost)
        #expect(await place.forgotten.suffix(1) == there[...])
        #expect(await place.losers.isEmpty)
    }

    @Test("finds its key at a place with more losers than come at once")
    func manyLosers() async throws {
        await place.holdLosersBack()
        let engine = SealedEngine(place, on: loop) { [key] look in
            _ = try await look()
            return key
        }
        let meeting = try await engine.meet(replica, named: "laptop", known: nil, lastBatch: nil)
        #expect(meeting.state == .continued)
    }

    @Test("says by its name which key has no room")
    func full() async throws {
        let engine = try await engine(key)
        let large = [UInt8](repeating: 0, count: RoamTerms.largestValue - 10)
        await #expect {
            try await engine.push(batch([(font, try archive("a")), (size, large)]))
        } throws: { ($0 as? EngineError)?.kind == .full([size]) }
        await place.fill()
        await #expect {
            try await engine.push(batch([(font, try archive("a"))]))
        } throws: { ($0 as? EngineError)?.kind == .full([font]) }
    }

    @Test("exchanges nothing with a place that has unencrypted values")
    func unsealed() async throws {
        await place.put(try archive("a"), under: font)
        let engine = try await engine(key)
        await #expect(throws: EngineError.unsealed) { try await engine.pull(after: 0, limit: 9) }
        let newcomer = SealedEngine(place, on: loop) { look in
            _ = try await look()
            return .random()
        }
        await #expect(throws: EngineError.unsealed) {
            try await newcomer.meet(.random(), named: "new", known: nil, lastBatch: nil)
        }
        await place.put(nil, under: font)
        #expect(try await engine.pull(after: 0, limit: 9).versions.isEmpty)
    }

    @Test("hands the wrapped key on unsealed, if it wraps this key")
    func wrappedKey() async throws {
        let wrapped = try WrappedKey(key, passphrase: "p", operations: 1, memory: 8192)
        let engine = try await engine(key)
        let archive = try wrapped.archive().bytes
        _ = try await engine.push(batch([(WrappedKey.key, archive), (font, [1])]))
        var looked: SealedPlace?
        let key = key
        let (seen, tell) = AsyncStream.makeStream(of: SealedPlace.self)
        let newcomer = SealedEngine(place, on: loop) { look in
            tell.yield(try await look())
            return key
        }
        _ = try await newcomer.meet(.random(), named: "new", known: nil, lastBatch: nil)
        tell.finish()
        for await place in seen { looked = place }
        #expect(looked?.wrappedKey == wrapped && looked?.hasValues == true)
        let page = try await newcomer.pull(after: 0, limit: 9)
        #expect(page.versions.first { $0.key == WrappedKey.key }?.archive == archive)
        // An enemy's, and none.
        let reserved = RoamingKey(domain: RoamTerms.sealed, name: RoamTerms.wrappedKey)
        let foreign = try WrappedKey(.random(), passphrase: "p", operations: 1, memory: 8192)
        for forged in [try foreign.archive().bytes, [1], nil] {
            await place.put(forged, under: reserved)
            let page = try await newcomer.pull(after: 0, limit: 9)
            #expect(page.versions.map(\.key) == [font])
            #expect(await newcomer.refusals[reserved] != nil)
        }
    }

    @Test("joins anew with another key")
    func otherKey() async throws {
        let first = try await engine(key)
        let meeting = try await first.meet(replica, named: "laptop", known: nil, lastBatch: nil)
        #expect(meeting.state == .continued)
        let again = try await first.meet(
            replica, named: "laptop", known: meeting.place, lastBatch: nil)
        #expect(again == meeting)
        let other = try await engine(.random())
        let changed = try await other.meet(
            replica, named: "laptop", known: meeting.place, lastBatch: nil)
        #expect(changed.state == .mustJoinAnew)
    }

    @Test("shows the names of the machines that have the key")
    func machines() async throws {
        let engine = try await engine(key)
        #expect(try await engine.machines().map(\.name) == ["laptop"])
        #expect(await place.names[replica]?.contains("laptop") == false)
    }
}
