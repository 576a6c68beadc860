import ArchiveTestSupport
import KeyedArchive
import ValuePaths
import PropertyList
import TestSupport
import TestTiers
import Testing

@Suite("A path into an archive of a real program", .startsPrograms)
struct KeyPathFixtureTests {
    /// Some nibs have very many paths, most of them to the same objects by other ways.
    private static let mostPaths = Thoroughness.isWhole ? 50 : 8

    private static func paths(
        of archive: KeyedArchive
    ) throws -> [(path: ValuePath, value: KeyPathModel)] {
        let all = try KeyPathModel(of: archive).paths()
        let stride = max(1, all.count / mostPaths)
        return all.enumerated().filter { $0.offset % stride == 0 }
            .map { (ValuePath($0.element.path), $0.element.value) }
    }

    @Test("reads the part that the value form shows", arguments: Fixtures.keyed.filter(\.isBinary))
    func reading(_ fixture: Fixtures.Fixture) throws {
        let archive = try KeyedArchive(validating: fixture.bytes)
        var oracle = KeyPathOracle()
        for (path, value) in try Self.paths(of: archive) {
            let part = try archive.value(at: path)
            oracle.expect(.read, path, of: archive, gives: part)
            let model = try KeyPathModel(of: part)
            #expect(value.hasReference || model == value.byItself, "\(path)")
            #expect(try part.value(at: ValuePath([])).isSame(as: part))
        }
        #expect(try oracle.differences() == "")
    }

    @Test(
        "changes nothing for the value that is there",
        arguments: Fixtures.keyed.filter(\.isBinary))
    func settingTheSame(_ fixture: Fixtures.Fixture) throws {
        let archive = try KeyedArchive(validating: fixture.bytes)
        for (path, _) in try Self.paths(of: archive) {
            let again = try archive.setting(path, to: archive.value(at: path))
            #expect(again.isSame(as: archive), "\(path)")
            #expect(again.bytes == archive.bytes, "\(path)")
        }
    }

    @Test(
        "sets only that place",
        arguments: Fixtures.keyed.filter(\.isBinary),
        [#""marker""#, "4711", #"["marker",{"a":1}]"#])
    func setting(_ fixture: Fixtures.Fixture, json: String) throws {
        let archive = try KeyedArchive(validating: fixture.bytes)
        let marker = try KeyedArchive(json: json)
        var oracle = KeyPathOracle()
        for (path, _) in try Self.paths(of: archive) where !path.endsInList {
            guard let changed = try Self.unlessSet(archive, path, marker) else { continue }
            oracle.expect(.set, path, of: archive, value: marker, gives: changed)
            // Where the last key that is no string became one, there is no list of keys any more.
            guard !path.steps.contains(.name("NS.keys")) else { continue }
            #expect(try changed.value(at: path).isSame(as: marker), "\(path)")
            let part = try archive.value(at: path)
            let back = try changed.setting(path, to: part)
            #expect(try back.value(at: path).isSame(as: part), "\(path)")
        }
        #expect(oracle.count > 0)
        #expect(try oracle.differences() == "")
    }

    @Test("removes only that place", arguments: Fixtures.keyed.filter(\.isBinary))
    func removing(_ fixture: Fixtures.Fixture) throws {
        let archive = try KeyedArchive(validating: fixture.bytes)
        var oracle = KeyPathOracle()
        for (path, _) in try Self.paths(of: archive) where !path.endsInList {
            let changed: KeyedArchive
            do {
                changed = try archive.removing(path)
            } catch {
                #expect(error.code == .notEditable)
                continue
            }
            oracle.expect(.remove, path, of: archive, gives: changed)
            // A name that is removed is gone; an element leaves its number to the next one.
            if case .name = path.steps.last {
                #expect(throws: ValuePathError.self) { try changed.value(at: path) }
            }
        }
        #expect(oracle.count > 0)
        #expect(try oracle.differences() == "")
    }

    @Test("is checked with an oracle that sees every other change, loss and leftover")
    func oracle() throws {
        func archive(_ json: String) throws -> KeyedArchive { try KeyedArchive(json: json) }
        let before = try archive(#"{"a":1,"b":["x"]}"#)
        let loose = Tree.archive("x", "loose")
        let path = try ValuePath("a")
        for wrong in [#"{"a":2,"b":[]}"#, #"{"a":2}"#, #"{"a":2.0,"b":["x"]}"#, #"{"b":["x"]}"#] {
            var oracle = KeyPathOracle()
            try oracle.expect(.set, path, of: before, value: archive("2"), gives: archive(wrong))
            #expect(try oracle.differences().hasPrefix("set a "), "\(wrong)")
        }
        var oracle = KeyPathOracle()
        oracle.expect(
            .set, ValuePath([]), of: try archive("1"), value: try archive(#""x""#),
            gives: try KeyedArchive(validating: loose))
        #expect(try oracle.differences().contains("has more than it needs"))
    }

    /// The archive with the marker, or nil where the path leads into an NSSet by a number.
    private static func unlessSet(
        _ archive: KeyedArchive, _ path: ValuePath, _ marker: KeyedArchive
    ) throws -> KeyedArchive? {
        do {
            return try archive.setting(path, to: marker)
        } catch {
            #expect(error.code == .notEditable)
            return nil
        }
    }
}

extension ValuePath {
    /// Whether the last step is to all elements of a collection.
    fileprivate var endsInList: Bool {
        steps.last == .name("NS.objects") || steps.last == .name("NS.keys")
    }
}
