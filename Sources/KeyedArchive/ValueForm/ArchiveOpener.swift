internal import PropertyList

/// Passes the value form to another sink, and opens the keyed archives inside data.
///
/// The base64 of data is replaced by the value form of the archive in it, under the key `$archive`.
/// All archives together have one budget.
struct ArchiveOpener<Sink: ValueFormSink>: ValueFormSink {
    private static var levelLimit: Int { 16 }

    private(set) var sink: Sink
    private let limits: ValueFormLimits
    private var rest: Int
    /// How many archives are open inside each other.
    private var level = 0

    init(into sink: Sink, limits: ValueFormLimits) {
        self.sink = sink
        self.limits = limits
        rest = limits.size
    }

    /// The archive in the bytes, if they are one and may be opened.
    private mutating func archive(in bytes: ArraySlice<UInt8>) -> KeyedArchive? {
        guard level < Self.levelLimit, bytes.starts(with: "bplist".utf8), spend(bytes.count) else {
            return nil
        }
        return try? KeyedArchive(validating: Array(bytes))
    }

    /// Shows an archive instead of its data, which begins at an offset.
    private mutating func open(_ archive: KeyedArchive, key: Text, at offset: Int) throws {
        try sink.beginDictionary()
        try sink.key(key)
        try sink.beginDictionary()
        try sink.key("$archive")
        level += 1
        var limits = limits
        limits.size = rest
        do {
            try archive.render(into: &self, limits: limits)
        } catch let error as ArchiveError {
            // The error's offset belongs to the inner archive, which the user does not see.
            throw error.code == .outputTooDeep
                ? ArchiveError.outputTooDeep(limit: limits.depth, at: offset)
                : ArchiveError.outputTooLarge(limit: self.limits.size, at: offset)
        }
        level -= 1
        try sink.endDictionary()
        try sink.endDictionary()
    }

    /// Takes the cost of a value from the budget; false if the budget is not enough.
    @discardableResult
    private mutating func spend(_ size: Int) -> Bool {
        guard size + 8 <= rest else {
            rest = 0
            return false
        }
        rest -= size + 8
        return true
    }
}

// MARK: Data

extension ArchiveOpener {
    mutating func data(_ value: ArraySlice<UInt8>) throws {
        guard let archive = archive(in: value) else {
            spend(value.count)
            return try sink.data(value)
        }
        try open(archive, key: "$data", at: value.startIndex)
    }

    mutating func bytes(_ value: ArraySlice<UInt8>) throws {
        guard let archive = archive(in: value) else {
            spend(value.count)
            return try sink.bytes(value)
        }
        try open(archive, key: "$bytes", at: value.startIndex)
    }
}

// MARK: All else

extension ArchiveOpener {
    mutating func null() throws {
        spend(0)
        try sink.null()
    }

    mutating func boolean(_ value: Bool) throws {
        spend(0)
        try sink.boolean(value)
    }

    mutating func integer(_ value: Int128) throws {
        spend(0)
        try sink.integer(value)
    }

    mutating func real(_ value: Double) throws {
        spend(0)
        try sink.real(value)
    }

    mutating func string(_ value: Text) throws {
        spend(value.byteCount)
        try sink.string(value)
    }

    mutating func date(_ secondsSince2001: Double) throws {
        spend(0)
        try sink.date(secondsSince2001)
    }

    mutating func reference(to uid: UInt64) throws {
        spend(0)
        try sink.reference(to: uid)
    }

    mutating func beginArray() throws {
        spend(0)
        try sink.beginArray()
    }

    mutating func endArray() throws { try sink.endArray() }

    mutating func beginDictionary() throws {
        spend(0)
        try sink.beginDictionary()
    }

    mutating func key(_ key: Text) throws {
        spend(key.byteCount)
        try sink.key(key)
    }

    mutating func endDictionary() throws { try sink.endDictionary() }
}
