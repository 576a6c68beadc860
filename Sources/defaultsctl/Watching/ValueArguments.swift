import KeyedArchive
import PropertyList

/// The words of `write` that give a value: a scalar in those of macOS, any other value by `--json`.
struct ValueArguments: ChoosySink {
    private var words: [String] = []

    /// - Parameter hasISODates: Whether dates in JSON are spelled in ISO 8601.
    /// - Returns: An option of ours, or the words behind the key; the other is empty.
    /// - Throws: `ArchiveError` where JSON cannot say it, `JSONError` where that could not be read
    ///   back, as of an object inside itself.
    static func words(
        for archive: KeyedArchive, hasISODates: Bool
    ) throws -> (options: [String], value: [String]) {
        var sink = ValueArguments()
        do {
            try archive.render(into: &sink)
            return ([], sink.words)
        } catch is RefusedValue {
            let json = try archive.jsonText(hasISODates: hasISODates)
            _ = try KeyedArchive(json: json)
            return (["--json", json], [])
        }
    }

    mutating func boolean(_ value: Bool) throws { words = ["-bool", "\(value)"] }

    mutating func integer(_ value: Int128) throws {
        // Beyond the range of -int, JSON has it exact.
        guard Int64(exactly: value) != nil else { throw RefusedValue() }
        words = ["-int", "\(value)"]
    }

    mutating func real(_ value: Double) throws {
        guard value.isFinite else { throw RefusedValue() }
        words = ["-float", "\(value)"]
    }

    mutating func string(_ value: Text) throws {
        // A command line carries neither a NUL nor half of a character.
        guard let string = value.string, !string.utf8.contains(0) else { throw RefusedValue() }
        words = ["-string", string]
    }
}
