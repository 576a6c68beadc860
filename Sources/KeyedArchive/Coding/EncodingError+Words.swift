/// What the encoder says when it refuses a value. The errors never contain one: in the place of the
/// value stands its type or its key.
extension EncodingError {
    private static func refusal(
        of stand: Any, at path: [any CodingKey], _ message: String
    ) -> EncodingError {
        .invalidValue(stand, Context(codingPath: path, debugDescription: message))
    }

    static func tooDeep(limit: Int, at path: [any CodingKey]) -> EncodingError {
        refusal(
            of: path.last?.stringValue ?? "", at: path,
            "The value is nested deeper than \(limit) levels.")
    }

    static func cycle(_ type: Any.Type, at path: [any CodingKey]) -> EncodingError {
        refusal(
            of: type, at: path,
            "The instance of \(type) refers to itself, directly or through others, and no Codable type "
                + "can be decoded from such a cycle. Leave the reference back out of the coding keys, "
                + "and set it after decoding; or use NSSecureCoding with DefaultsFoundation, which "
                + "archives cycles.")
    }

    static func secondContainer(at path: [any CodingKey]) -> EncodingError {
        refusal(
            of: path.last?.stringValue ?? "", at: path,
            "The value asked its encoder for two things at once: fields, elements, a single value.")
    }

    static func duplicateField(at path: [any CodingKey]) -> EncodingError {
        let name = path.last?.stringValue ?? ""
        return refusal(
            of: name, at: path,
            "The field \"\(name)\" was written twice; a class and its superclass share their names."
        )
    }

    static func integerTooLarge(at path: [any CodingKey]) -> EncodingError {
        refusal(
            of: path.last?.stringValue ?? "", at: path,
            "The integer is too large: archives have integers of up to 128 bits with a sign.")
    }

    static func sameKeys(at path: [any CodingKey]) -> EncodingError {
        refusal(
            of: path.last?.stringValue ?? "", at: path,
            "Two different keys of the dictionary are encoded alike.")
    }
}
