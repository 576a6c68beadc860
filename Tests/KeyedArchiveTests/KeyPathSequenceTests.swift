import ArchiveTestSupport
import KeyedArchive
import TestSupport
import ValuePaths
import PropertyList
import TestSupport
import Testing

@Suite("Many changes below the root")
struct KeyPathSequenceTests {
    /// A value beside the archive, changed by the same steps.
    private indirect enum Model {
        case scalar(String)
        case array([Model])
        case dictionary([String: Model])
        case object([String: Model])

        var json: String {
            switch self {
            case .scalar(let json): json
            case .array(let elements): "[\(elements.map(\.json).joined(separator: ","))]"
            case .dictionary(let entries):
                "{\(Self.members(entries).joined(separator: ","))}"
            case .object(let fields):
                "{\(([#""$class":"Own""#] + Self.members(fields)).joined(separator: ","))}"
            }
        }

        private static func members(_ entries: [String: Model]) -> [String] {
            // In order, as that of a dictionary is another in each process.
            entries.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value.json)" }
        }

        static func random(_ depth: Int, _ random: inout SeededGenerator) -> Model {
            let scalars = [
                "1", "1.0", "true", "null", "\"x\"", "\"y\"", "\"$null\"", "-7", "70000",
            ]
            switch Int.random(in: 0..<(depth > 0 ? 6 : 3), using: &random) {
            case 3:
                let count = Int.random(in: 0..<4, using: &random)
                return .array((0..<count).map { _ in Model.random(depth - 1, &random) })
            case 4: return .dictionary(members(depth, &random))
            case 5: return .object(members(depth, &random))
            default: return .scalar(scalars[Int.random(in: scalars.indices, using: &random)])
            }
        }

        private static func members(
            _ depth: Int, _ random: inout SeededGenerator
        ) -> [String: Model] {
            let names = ["a", "b", "c.d", "e"].filter { _ in Bool.random(using: &random) }
            return Dictionary(
                uniqueKeysWithValues: names.map { ($0, Model.random(depth - 1, &random)) })
        }

        /// Makes a change somewhere, and says where; removes if there is no new value.
        mutating func change(
            to value: Model?, _ random: inout SeededGenerator
        ) -> [ValuePath.Step]? {
            switch self {
            case .scalar:
                return nil
            case .array(var elements):
                guard let value else {
                    guard let position = elements.indices.randomElement(using: &random) else {
                        return nil
                    }
                    elements.remove(at: position)
                    self = .array(elements)
                    return [.index(position)]
                }
                let position = Int.random(in: 0...elements.count, using: &random)
                guard position < elements.count else {
                    self = .array(elements + [value])
                    return [.index(position)]
                }
                let deeper = elements[position].changeDeeper(to: value, &random)
                if deeper.isEmpty { elements[position] = value }
                self = .array(elements)
                let step = Bool.random(using: &random) ? position : position - elements.count
                return [.index(step)] + deeper
            case .dictionary(var entries):
                let path = Self.change(&entries, to: value, &random)
                self = .dictionary(entries)
                return path
            case .object(var fields):
                let path = Self.change(&fields, to: value, &random)
                self = .object(fields)
                return path
            }
        }

        private mutating func changeDeeper(
            to value: Model, _ random: inout SeededGenerator
        ) -> [ValuePath.Step] {
            Bool.random(using: &random) ? change(to: value, &random) ?? [] : []
        }

        private static func change(
            _ entries: inout [String: Model], to value: Model?, _ random: inout SeededGenerator
        ) -> [ValuePath.Step]? {
            let name = ["a", "b", "c.d", "e", "f g"].randomElement(using: &random) ?? "a"
            guard let value else {
                return entries.removeValue(forKey: name).map { _ in [.name(Text(name))] }
            }
            let deeper = entries[name]?.changeDeeper(to: value, &random) ?? []
            if deeper.isEmpty { entries[name] = value }
            return [.name(Text(name))] + deeper
        }
    }

    @Test(
        "give the same value as the same changes in JSON",
        arguments: 0..<(Thoroughness.isWhole ? 40 : 12))
    func random(seed: Int) throws {
        var random = SeededGenerator(case: seed)
        var model = Model.dictionary(["a": .array([.scalar("1")]), "b": .object([:])])
        var archive = try KeyedArchive(json: model.json)
        for _ in 0..<60 {
            let removes = Int.random(in: 0..<4, using: &random) == 0
            let value = removes ? nil : Model.random(3, &random)
            guard let steps = model.change(to: value, &random) else { continue }
            let path = ValuePath(steps)
            archive =
                try value.map { try archive.setting(path, to: KeyedArchive(json: $0.json)) }
                ?? archive.removing(path)
            let expected = try KeyedArchive(json: model.json)
            #expect(try archive.json() == expected.json(), "\(path)")
            // Nothing is kept but what the value needs; equal scalars may be apart by now.
            let checked = try KeyedArchive(validating: archive.bytes)
            #expect(checked.bytes.count <= expected.bytes.count + 600, "\(path)")
        }
        let whole = try archive.value(at: ValuePath(""))
        #expect(try whole.json() == archive.json())
    }

    @Test("between two values do not make the archive grow")
    func alternating() throws {
        let json = #"{"a":{"$class":"Game","books":[{"title":"Dune"},2]},"b":["Dune",1]}"#
        var archive = try KeyedArchive(json: json)
        let path = try ValuePath("a.books[0].title")
        let values = try [#"{"$class":"Title","name":"Dune","n":[1,2.5]}"#, #""Solaris""#].map {
            try KeyedArchive(json: $0)
        }
        var sizes: Set<Int> = []
        for turn in 0..<1000 {
            archive = try archive.setting(path, to: values[turn % 2])
            if turn >= 2 { sizes.insert(archive.bytes.count) }
        }
        #expect(sizes.count == 2)
        #expect(
            try archive.setting(path, to: KeyedArchive(json: #""Dune""#)).isSame(
                as: KeyedArchive(json: json)))
    }

    @Test("add to an array and remove from it")
    func appending() throws {
        var archive = try KeyedArchive(json: "[]")
        for number in 0..<200 {
            archive = try archive.setting(ValuePath([.index(number)]), to: KeyedArchive(json: "1"))
        }
        #expect(try archive.value(at: ValuePath("[-1]")).json().text == "1")
        for _ in 0..<200 { archive = try archive.removing(ValuePath("[0]")) }
        #expect(archive.isSame(as: try KeyedArchive(json: "[]")))
        #expect(archive.bytes.count == (try KeyedArchive(json: "[]")).bytes.count)
    }
}
