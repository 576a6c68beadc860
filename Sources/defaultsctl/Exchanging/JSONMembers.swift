import DefaultsClient
import KeyedArchive
import PropertyList

/// The members of a JSON object, each value an archive of its own.
///
/// The text is only cut into its members here; each is then read as any JSON is.
struct JSONMembers {
    /// A text is no object, or names a key twice.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let text: [UInt8]
    private var offset = 0

    init(_ text: [UInt8]) {
        self.text = text
    }

    /// - Throws: `JSONError` with the place in the text, or ``Failure``.
    func entries(_ progress: ProgressBar) throws -> [DefaultsEntry] {
        do {
            var cutter = self
            return try cutter.cut(progress)
        } catch {
            // An error in a member has its place there; read whole, it has that in the text.
            _ = try KeyedArchive(json: text)
            throw error
        }
    }

    private mutating func cut(_ progress: ProgressBar) throws -> [DefaultsEntry] {
        guard skip("{") else { throw Failure(description: "It is no JSON object.") }
        var entries: [DefaultsEntry] = []
        var known: Set<String> = []
        if skip("}") { return try finish(entries) }
        repeat {
            let key = try key()
            guard known.insert(key).inserted else {
                throw Failure(description: "The object has the same key twice.")
            }
            guard skip(":") else { throw Failure(description: "A key has no value.") }
            let value = try KeyedArchive(json: Array(text[valueRange()]))
            entries.append(DefaultsEntry(key: key, archive: value))
            progress.show(offset, of: text.count)
        } while skip(",")
        guard skip("}") else { throw Failure(description: "The object has no end.") }
        return try finish(entries)
    }

    private mutating func finish(_ entries: [DefaultsEntry]) throws -> [DefaultsEntry] {
        skipSpace()
        guard offset == text.count else {
            throw Failure(description: "More stands after the end of the object.")
        }
        return entries
    }

    private mutating func key() throws -> String {
        skipSpace()
        let start = offset
        skipString()
        var key = LoneString()
        try KeyedArchive(json: Array(text[start..<offset])).render(into: &key)
        guard let string = key.text?.string else {
            throw Failure(description: "A key holds half a character, an unpaired surrogate.")
        }
        return string
    }

    /// Where the value is that comes next, which the scanner goes past.
    private mutating func valueRange() -> Range<Int> {
        skipSpace()
        let start = offset
        var depth = 0
        while offset < text.count {
            switch text[offset] {
            case UInt8(ascii: "\""):
                skipString()
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ","):
                if depth == 0 { return start..<offset }
                if text[offset] != UInt8(ascii: ",") { depth -= 1 }
            default: break
            }
            offset += 1
        }
        return start..<offset
    }

    /// Goes past a string, or what stands in the place of one.
    private mutating func skipString() {
        guard offset < text.count else { return }
        offset += 1
        while offset < text.count, text[offset] != UInt8(ascii: "\"") {
            offset += text[offset] == UInt8(ascii: "\\") ? 2 : 1
        }
        offset = min(offset + 1, text.count)
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        guard offset < text.count, text[offset] == UInt8(ascii: character) else { return false }
        offset += 1
        return true
    }

    private mutating func skipSpace() {
        while offset < text.count, [0x20, 0x09, 0x0A, 0x0D].contains(text[offset]) { offset += 1 }
    }
}
