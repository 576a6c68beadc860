import KeyedArchive
import PropertyList

extension Part {
    /// The validator and the value form: what is valid is shown the same each time, and what is shown
    /// means the same as input.
    static let archive = Part("archive") { bytes in
        guard let archive = try validated(bytes) else { return .refused }
        try require(archive.bytes == bytes, "An archive has other bytes than were read.")
        let parts = try ArchiveParts(of: bytes)

        var events = EventCheck()
        let json: [UInt8]
        do {
            try archive.render(into: &events, limits: .small)
            json = try archive.json(limits: .small)
        } catch let error as ArchiveError {
            try Refusals.check(error, of: bytes)
            try require(
                error.code == .outputTooLarge || error.code == .outputTooDeep,
                "A valid archive cannot be shown: \(error)")
            return .accepted
        }
        try require(events.isWhole, "What was shown has no end.")
        try require(try archive.json(limits: .small) == json, "The JSON differs the second time.")
        try checkReading(json, of: archive, isPlain: parts.isPlain && !events.isOutputOnly)
        try checkBuilding(json, of: archive, hasNaN: events.hasNaN)
        return .accepted
    }

    /// The archive, or nil where the bytes are none, which is then said properly.
    static func validated(_ bytes: [UInt8]) throws -> KeyedArchive? {
        do throws(ArchiveError) {
            return try KeyedArchive(validating: bytes)
        } catch {
            try Refusals.check(error, of: bytes)
            return nil
        }
    }

    /// JSON that means one thing is read, and shown as it was.
    private static func checkReading(
        _ json: [UInt8], of archive: KeyedArchive, isPlain: Bool
    ) throws {
        let again: KeyedArchive
        do throws(JSONError) {
            again = try KeyedArchive(json: json)
        } catch {
            try Refusals.check(error, of: json)
            try require(!isPlain, "What was shown cannot be read: \(error)")
            return
        }
        let shown = try again.json()
        if isPlain { try requireSame(json, shown) }
        let pretty = try archive.json(isPretty: true, limits: .small)
        try require(
            try KeyedArchive(json: pretty).bytes == again.bytes,
            "JSON in lines is another value than JSON in one line.")
        try require(
            try KeyedArchive(json: shown).bytes == again.bytes,
            "The same value was written in other bytes.")
    }

    /// An archive that is made of the events is that which is made of their JSON.
    private static func checkBuilding(
        _ json: [UInt8], of archive: KeyedArchive, hasNaN: Bool
    ) throws {
        var builder = ValueFormBuilder()
        let byEvents = Result { try archive.render(into: &builder, limits: .small) }
        let byJSON = Result { () throws(JSONError) in try KeyedArchive(json: json) }
        switch (byEvents, byJSON) {
        case (.success, .success(let other)):
            let built = builder.finish()
            try require(
                hasNaN || built.bytes == other.bytes, "Events and JSON give other archives.")
        case (.failure(let error as ValueFormError), .failure(let other)):
            try require(other.cause == error, "Events get \(error), their JSON \(other)")
        default:
            throw Violation(description: "Events give \(byEvents), their JSON \(byJSON).")
        }
    }
}

extension ValueFormLimits {
    /// What a small input needs; much more is a bomb, and only takes time.
    static let small = ValueFormLimits(size: 1 << 16, depth: 500)
}
