/// The path of a file, the same as another where the bytes are: a directory can have names that look
/// alike and are spelled differently, which Swift's strings take for one.
struct FilePath: Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
    let description: String

    init(_ path: String) {
        description = path
    }

    init(from decoder: any Decoder) throws {
        description = try decoder.singleValueContainer().decode(String.self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    static func == (one: FilePath, other: FilePath) -> Bool {
        one.description.utf8.elementsEqual(other.description.utf8)
    }

    static func < (one: FilePath, other: FilePath) -> Bool {
        one.description.utf8.lexicographicallyPrecedes(other.description.utf8)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(Array(description.utf8))
    }
}
