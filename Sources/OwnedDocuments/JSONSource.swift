internal import DefaultsTerms
package import KeyedArchive
internal import PropertyList

/// A document in JSON.
package struct JSONSource: DocumentSource {
    private var reader: JSONObjectReader

    /// - Throws: ``DocumentError`` if the text does not begin like an object.
    package init(_ text: [UInt8]) throws(DocumentError) {
        do throws(JSONError) {
            reader = try JSONObjectReader(text, limits: .ofDocument)
        } catch {
            throw DocumentError(error)
        }
    }

    package func hasKey(_ key: String) -> Bool {
        var reader = reader
        while let name = try? reader.nextKey() {
            if name.string == key { return true }
            guard (try? reader.skipValue()) != nil else { return false }
        }
        return false
    }

    package var mark: Int { reader.keyOffset }

    package func place(of mark: Int) -> DocumentError.Place? {
        let place = reader.place(ofByte: mark)
        return DocumentError.Place(line: place.line, column: place.column)
    }

    package mutating func nextKey() throws(DocumentError) -> String? {
        guard let key = try reading({ reader throws(JSONError) in try reader.nextKey() }) else {
            return nil
        }
        guard let name = key.string else {
            throw DocumentError(
                "The key has an unpaired surrogate, which no key can have.", at: place)
        }
        return name
    }

    package mutating func enterDictionary() throws(DocumentError) -> Bool {
        try reading { reader throws(JSONError) in try reader.enterObject() }
    }

    package mutating func enterArray() throws(DocumentError) -> Bool {
        try reading { reader throws(JSONError) in try reader.enterArray() }
    }

    package mutating func nextElement() throws(DocumentError) -> Bool {
        try reading { reader throws(JSONError) in try reader.nextElement() }
    }

    package func word() -> String? {
        reader.firstKey()?.string.flatMap(DocumentWord.init)?.rawValue
    }

    package mutating func value() throws(DocumentError) -> KeyedArchive {
        try reading { reader throws(JSONError) in try reader.value() }
    }

    package mutating func skipValue() throws(DocumentError) {
        try reading { reader throws(JSONError) in try reader.skipValue() }
    }

    private mutating func reading<Result>(
        _ read: (inout JSONObjectReader) throws(JSONError) -> Result
    ) throws(DocumentError) -> Result {
        do throws(JSONError) {
            return try read(&reader)
        } catch {
            throw DocumentError(error)
        }
    }
}

extension DocumentError {
    fileprivate init(_ error: JSONError) {
        self.init(error.message, at: Place(line: error.line, column: error.column))
    }
}

extension ValueFormLimits {
    /// The limits of a value in a document: those of a value that a program sets.
    package static var ofDocument: ValueFormLimits {
        ValueFormLimits(
            size: standard.size, depth: standard.depth, count: ContractLimits.maximumValueCount)
    }
}
