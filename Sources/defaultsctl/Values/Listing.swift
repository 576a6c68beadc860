import DefaultsClient
import KeyedArchive
import OpenStepPropertyList
import PropertyList

/// Values under their keys, as macOS's `defaults` prints one or several domains.
struct Listing {
    private var writer: DateFolding<DescriptionWriter>
    /// The first error of a value that cannot be shown.
    private(set) var failure: ToolError?

    /// - Parameter hasISODates: Whether dates are in ISO 8601, and not as on macOS.
    init(hasISODates: Bool = false) {
        writer = DateFolding(into: DescriptionWriter(limit: .max, hasISODates: hasISODates))
    }

    /// The text for a single value.
    static func text(of archive: KeyedArchive, key: String) throws(ToolError) -> String {
        var writer = DateFolding(into: DescriptionWriter())
        do {
            try archive.shown().render(into: &writer)
        } catch {
            throw .cannotShow(key, because: error)
        }
        return String(decoding: writer.sink.output, as: UTF8.self)
    }

    /// Everything that was added.
    var text: String { String(decoding: writer.sink.output, as: UTF8.self) }

    /// Adds the dictionary of some entries.
    ///
    /// An entry that cannot be shown is left out.
    mutating func add(_ entries: [DefaultsEntry]) throws {
        try writer.beginDictionary()
        for entry in entries {
            // Pending output must be written before the mark is made.
            try writer.release()
            let mark = writer.sink.mark
            do {
                try writer.key(Text(entry.key))
                try entry.archive.shown().render(into: &writer)
            } catch {
                failure = failure ?? .cannotShow(entry.key, because: error)
                writer.sink.rewind(to: mark)
                writer.forget()
            }
        }
        try writer.endDictionary()
    }

    /// Adds the dictionary of domains with their entries.
    mutating func add(_ domains: [(name: String, entries: [DefaultsEntry])]) throws {
        try writer.beginDictionary()
        for (name, entries) in domains {
            try writer.key(Text(name))
            try add(entries)
        }
        try writer.endDictionary()
    }
}

/// Values under their keys as JSON, without those that cannot be shown.
struct JSONListing {
    /// Whether dates are in ISO 8601.
    let hasISODates: Bool
    /// The first error of a value that cannot be shown.
    private(set) var failure: ToolError?

    init(hasISODates: Bool) {
        self.hasISODates = hasISODates
    }

    /// The object of some entries.
    mutating func object(of entries: [DefaultsEntry]) throws -> String {
        var members: [(String, String)] = []
        for entry in entries {
            do throws(ToolError) {
                members.append((entry.key, try entry.jsonText(hasISODates: hasISODates)))
            } catch {
                failure = failure ?? error
            }
        }
        return try ShownJSON.object(members)
    }

    /// The object of domains with their entries.
    mutating func object(
        of domains: [(name: String, entries: [DefaultsEntry])]
    ) throws -> String {
        try ShownJSON.object(domains.map { ($0.name, try object(of: $0.entries)) })
    }
}

/// Accepts some kinds of values, and refuses all others by throwing ``RefusedValue``.
protocol SelectiveSink: ValueFormSink {}

/// The value has a kind that is not accepted.
struct RefusedValue: Error {}

extension SelectiveSink {
    func null() throws { throw RefusedValue() }
    func boolean(_ value: Bool) throws { throw RefusedValue() }
    func integer(_ value: Int128) throws { throw RefusedValue() }
    func real(_ value: Double) throws { throw RefusedValue() }
    func string(_ value: Text) throws { throw RefusedValue() }
    func data(_ value: ArraySlice<UInt8>) throws { throw RefusedValue() }
    func bytes(_ value: ArraySlice<UInt8>) throws { throw RefusedValue() }
    func date(_ secondsSince2001: Double) throws { throw RefusedValue() }
    func reference(to uid: UInt64) throws { throw RefusedValue() }
    func beginArray() throws { throw RefusedValue() }
    func endArray() throws { throw RefusedValue() }
    func beginDictionary() throws { throw RefusedValue() }
    func key(_ key: Text) throws { throw RefusedValue() }
    func endDictionary() throws { throw RefusedValue() }
}

/// Looks at some kinds of values, and ignores all others.
protocol PassiveSink: ValueFormSink {}

extension PassiveSink {
    func null() {}
    func boolean(_ value: Bool) {}
    func integer(_ value: Int128) {}
    func real(_ value: Double) {}
    func string(_ value: Text) {}
    func data(_ value: ArraySlice<UInt8>) {}
    func bytes(_ value: ArraySlice<UInt8>) {}
    func date(_ secondsSince2001: Double) {}
    func reference(to uid: UInt64) {}
    func beginArray() {}
    func endArray() {}
    func beginDictionary() {}
    func key(_ key: Text) {}
    func endDictionary() {}
}

/// Counts the elements of an array, without nested ones.
struct ElementCounter: ValueFormSink {
    private(set) var count = 0
    private var depth = 0

    mutating func null() { note() }
    mutating func boolean(_ value: Bool) { note() }
    mutating func integer(_ value: Int128) { note() }
    mutating func real(_ value: Double) { note() }
    mutating func string(_ value: Text) { note() }
    mutating func data(_ value: ArraySlice<UInt8>) { note() }
    mutating func bytes(_ value: ArraySlice<UInt8>) { note() }
    mutating func date(_ secondsSince2001: Double) { note() }
    mutating func reference(to uid: UInt64) { note() }
    mutating func beginArray() { begin() }
    mutating func endArray() { depth -= 1 }
    mutating func beginDictionary() { begin() }
    mutating func key(_ key: Text) {}
    mutating func endDictionary() { depth -= 1 }

    private mutating func note() {
        if depth == 1 { count += 1 }
    }

    private mutating func begin() {
        note()
        depth += 1
    }
}
