import KeyedArchive

extension Part {
    /// The parser of JSON and the writer of archives: what is taken makes a valid archive, which is
    /// shown as a value that is shown the same when it is taken.
    static let json = Part("JSON") { text in
        let archive: KeyedArchive
        do throws(JSONError) {
            archive = try KeyedArchive(json: text)
        } catch {
            try Refusals.check(error, of: text)
            return .refused
        }
        let validated = try KeyedArchive(validating: archive.bytes)
        try require(validated.isSame(as: archive), "An archive is not the same as itself.")
        // Mutable collections are shown as the others, so it is not always the same archive again.
        let json = try validated.json()
        try require(String(validating: json, as: UTF8.self) != nil, "What was shown is not UTF-8.")
        let again = try KeyedArchive(json: json)
        try require(
            try KeyedArchive(json: validated.json(isPretty: true)).bytes == again.bytes,
            "JSON in lines is another value than JSON in one line.")
        try require(
            try KeyedArchive(json: validated.json(hasISODates: true)).bytes == again.bytes,
            "JSON with dates in ISO 8601 is another value.")
        if try ArchiveParts(of: archive.bytes).isPlain {
            try requireSame(json, try again.json())
        }
        return .accepted
    }
}
