import DBus
import DconfFiles
import DefaultsDconf
import DefaultsProtocol
import Testing

/// What programs send in a call of `Change`.
struct ChangeTests {
    private static let entry = ExactType.entry(key: .string, value: .maybe(.variant))

    private static func bytes(_ entries: [(String, ExactValue?)]) throws -> [UInt8] {
        let elements = entries.map { path, value in
            let content = value.map { ExactValue(.variant, .variant($0)) }
            return ExactValue(
                entry,
                .elements([
                    ExactValue(.string, .string(path)),
                    ExactValue(.maybe(.variant), .elements(content.map { [$0] } ?? [])),
                ]))
        }
        return try ExactValue(.array(entry), .elements(elements)).gvariant()
    }

    @Test func `values, resets and resets of directories are told apart`() throws {
        let one = ExactValue(.int32, .integer(1))
        let change = try DconfChange(
            Self.bytes([("/a/b", one), ("/a/c", nil), ("/d/", nil), ("/", nil)]))
        let assignments = change.assignments.sorted { $0.path.path < $1.path.path }
        #expect(assignments.map(\.path.path) == ["/a/b", "/a/c"])
        #expect(assignments.map(\.value) == [one, nil])
        #expect(change.directories == ["/d/", "/"])
        #expect(try DconfChange([]).assignments.isEmpty)
    }

    @Test(arguments: [
        "a", "", "//", "/a//b", "/a//", "a/", "/" + String(repeating: "k", count: 1200),
    ])
    func `a wrong path is refused`(path: String) throws {
        let bytes = try Self.bytes([(path, nil)])
        #expect(throws: DBusError.self) { try DconfChange(bytes) }
    }

    @Test func `a directory has no value`() throws {
        let bytes = try Self.bytes([("/a/", ExactValue(.boolean, .boolean(true)))])
        #expect(throws: DBusError.self) { try DconfChange(bytes) }
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `any bytes are a change or an error`(seed: UInt64) throws {
        var random = RandomValues(seed: seed)
        let type = random.type()
        var bytes = try Self.bytes([
            ("/a/b", random.value(of: type)), ("/a/c", random.value(of: random.type())),
        ])
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<20 {
            guard let place = bytes.indices.randomElement(using: &generator) else { return }
            bytes[place] = .random(in: 0...255, using: &generator)
            _ = try? DconfChange(bytes)
            bytes.remove(at: place)
            _ = try? DconfChange(bytes)
        }
    }

    @Test func `a deep value is refused`() throws {
        var value = ExactValue(.boolean, .boolean(true))
        for _ in 0..<60 { value = ExactValue(.variant, .variant(value)) }
        let entries = try Self.bytes([("/a", value)])
        #expect(!entries.isEmpty)
        // One more level around it would be too many.
        #expect(throws: (any Error).self) {
            var deep = value
            for _ in 0..<20 { deep = ExactValue(.variant, .variant(deep)) }
            _ = try Self.bytes([("/a", deep)])
        }
    }
}
