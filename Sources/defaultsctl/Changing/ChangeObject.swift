import KeyedArchive
import PropertyList
import ValuePaths

/// An edit as a JSON object: `domain`, `key`, and `value` or `"remove": true`; with `path` of a part
/// of the value, with `ifGeneration` only while the key has that generation.
struct ChangeObject {
    let domain: String
    let key: String
    let edit: Edit
    /// The generation that the key must still have; nil where that does not matter.
    let generation: UInt64?

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private static let members: Set = ["domain", "key", "value", "remove", "path", "ifGeneration"]

    init(json: [UInt8]) throws {
        let object = try KeyedArchive(json: json)
        var names = MemberNames()
        try object.render(into: &names)
        if let other = names.names.first(where: { !Self.members.contains($0) }) {
            throw Failure(
                description:
                    "'\(other.onOneLine)' is no member of a change; there are domain, key, "
                    + "value, remove, path and ifGeneration.")
        }
        func member(_ name: String) throws -> KeyedArchive? {
            guard names.names.contains(name) else { return nil }
            return try object.value(at: ValuePath([.name(Text(name))]))
        }
        domain = try DomainWord(name: Self.string(member("domain"), "domain")).name
        key = try Self.string(member("key"), "key")
        let path = try member("path").map { try ValuePath(ofPart: Self.string($0, "path")) }
        edit = try Self.edit(
            value: member("value"), isRemoval: member("remove")?.jsonText() == "true", at: path)
        generation = try member("ifGeneration").map {
            guard let generation = UInt64(try $0.jsonText()) else {
                throw Failure(description: "\"ifGeneration\" must be a number, of 0 or more.")
            }
            return generation
        }
    }

    private static func edit(
        value: KeyedArchive?, isRemoval: Bool, at path: ValuePath?
    ) throws -> Edit {
        switch (value, isRemoval) {
        case (let value?, false): Edit.setting(path, to: value)
        case (nil, true): Edit.removing(path)
        default: throw Failure(description: "A change has either \"value\" or \"remove\": true.")
        }
    }

    private static func string(_ archive: KeyedArchive?, _ name: String) throws -> String {
        var string = LoneString()
        try? archive?.render(into: &string)
        guard let text = string.text?.description else {
            throw Failure(description: "A change has a \"\(name)\", which is a string.")
        }
        return text
    }
}

/// The names of the members of a JSON object, which has no others in it that count.
private struct MemberNames: OnlookingSink {
    private(set) var names: Set<String> = []
    private var depth = 0

    mutating func key(_ key: Text) {
        if depth == 1 { names.insert(key.description) }
    }

    mutating func beginDictionary() { depth += 1 }
    mutating func endDictionary() { depth -= 1 }
    mutating func beginArray() { depth += 1 }
    mutating func endArray() { depth -= 1 }
}
