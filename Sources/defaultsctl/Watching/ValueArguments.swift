import KeyedArchive
import PropertyList

/// The words of `write` that give a value: a scalar in those of macOS, any other value by `--json`.
struct ValueArguments: ValueFormSink {
    /// The value is more than one scalar.
    private struct OtherValue: Error {}

    private var words: [String] = []

    /// - Returns: An option of ours, or the words behind the key; the other is empty.
    /// - Throws: `ArchiveError` where JSON cannot say it, `JSONError` where that could not be read
    ///   back, as of an object inside itself.
    static func words(
        for archive: KeyedArchive
    ) throws -> (options: [String], value: [String]) {
        var sink = ValueArguments()
        do {
            try archive.render(into: &sink)
            return ([], sink.words)
        } catch is OtherValue {
            let json = try archive.jsonText()
            _ = try KeyedArchive(json: json)
            return (["--json", json], [])
        }
    }

    mutating func boolean(_ value: Bool) throws { words = ["-bool", "\(value)"] }

    mutating func integer(_ value: Int128) throws {
        // Beyond the range of -int, JSON has it exact.
        guard Int64(exactly: value) != nil else { throw OtherValue() }
        words = ["-int", "\(value)"]
    }

    mutating func real(_ value: Double) throws {
        guard value.isFinite else { throw OtherValue() }
        words = ["-float", "\(value)"]
    }

    mutating func string(_ value: Text) throws {
        // A command line carries neither a NUL nor half of a character.
        guard let string = value.string, !string.utf8.contains(0) else { throw OtherValue() }
        words = ["-string", string]
    }

    mutating func null() throws { throw OtherValue() }
    mutating func data(_ value: ArraySlice<UInt8>) throws { throw OtherValue() }
    mutating func bytes(_ value: ArraySlice<UInt8>) throws { throw OtherValue() }
    mutating func date(_ secondsSince2001: Double) throws { throw OtherValue() }
    mutating func reference(to uid: UInt64) throws { throw OtherValue() }
    mutating func beginArray() throws { throw OtherValue() }
    mutating func endArray() throws { throw OtherValue() }
    mutating func beginDictionary() throws { throw OtherValue() }
    mutating func key(_ key: Text) throws { throw OtherValue() }
    mutating func endDictionary() throws { throw OtherValue() }
}
