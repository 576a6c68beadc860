/// What this module says when it refuses objects.
extension ObjectCodingError {
    static func classNotAllowed(_ name: String) -> ObjectCodingError {
        ObjectCodingError(
            .classNotAllowed,
            "An object is of class \(name.quoted), which is not allowed here. Name the class, or a "
                + "superclass of it, in the call that decodes this field.")
    }

    static func classNotFound(_ name: String) -> ObjectCodingError {
        ObjectCodingError(
            .classNotFound,
            "An object is of class \(name.quoted), which this program does not have. If the class "
                + "has another name here, set it with setClass(_:forName:).")
    }

    static func notSecure(_ name: String) -> ObjectCodingError {
        ObjectCodingError(
            .notSecure,
            "Class \(name.quoted) is not coded: it must inherit of NSObject, conform to "
                + "NSSecureCoding and say that it supports secure coding.")
    }

    static func unsupportedClass(_ name: String, ancestor: String) -> ObjectCodingError {
        let which =
            name == ancestor
            ? "\(name.quoted) is"
            : "\(name.quoted) inherits of \(ancestor.quoted), which is"
        return ObjectCodingError(
            .unsupportedClass,
            "Class \(which) one of Foundation's that cannot be coded here without risk.")
    }

    static func wrongType(_ found: String, needs need: String) -> ObjectCodingError {
        ObjectCodingError(.wrongType, "The field is \(found); \(need) is asked for.")
    }

    static func outOfRange(_ need: String) -> ObjectCodingError {
        ObjectCodingError(.wrongType, "The number in the field does not fit \(need).")
    }

    static let missingField = ObjectCodingError(
        .missingField, "The object has no field of this name.")

    static let missingTop = ObjectCodingError(
        .missingField, "The archive has no object under this name in its $top.")

    static let noObject = ObjectCodingError(
        .missingField, "The archive is nil where an object is needed.")

    static let cycle = ObjectCodingError(
        .cycle,
        "The object is needed to make itself. Its class can call resolveReferences(to:) of the "
            + "coder before it decodes what refers back to it.")

    static func badObject(_ name: String, needs need: StaticString) -> ObjectCodingError {
        ObjectCodingError(.badObject, "An object of class \(name.quoted) is wrong: \(need).")
    }

    static let classRecordAsObject = ObjectCodingError(
        .badObject, "A class record stands where an object is asked for.")

    static let nilElement = ObjectCodingError(
        .badObject, "An element of a collection is nil, which no collection here can hold.")

    static func tooDeep(limit: Int) -> ObjectCodingError {
        ObjectCodingError(.limitExceeded, "The objects are nested deeper than \(limit) levels.")
    }

    static let noStackLeft = ObjectCodingError(
        .limitExceeded,
        "The objects are nested deeper than the stack of this thread has room for.")

    static func tooMany(limit: Int) -> ObjectCodingError {
        ObjectCodingError(
            .limitExceeded, "The objects have more than \(limit) fields and elements in all.")
    }

    static func tooLarge(limit: Int) -> ObjectCodingError {
        ObjectCodingError(
            .limitExceeded, "The strings and data are larger than \(limit) bytes in all.")
    }

    static func tooManyClasses(limit: Int) -> ObjectCodingError {
        ObjectCodingError(
            .limitExceeded,
            "The archive names more than \(limit) classes that are not among those allowed.")
    }

    static let tooManyComparisons = ObjectCodingError(
        .limitExceeded,
        "Too many elements of sets, or keys, have the same hash, or are large collections.")

    static func initializerFailed(_ name: String, missing: [String]) -> ObjectCodingError {
        let fields = missing.map(\.quoted).joined(separator: ", ")
        let reason = missing.isEmpty ? "" : " It asked for fields that are not there: \(fields)."
        return ObjectCodingError(
            .initializerFailed,
            "The init(coder:) of class \(name.quoted) returned nil.\(reason)")
    }

    static func failed(_ cause: any Error) -> ObjectCodingError {
        ObjectCodingError(.failed, "An object refused to be coded.", cause: cause)
    }

    static let duplicateField = ObjectCodingError(
        .duplicateField,
        "The object writes a field of this name twice; a class and its superclass may both use it.")

    static func notEncodable(_ type: String) -> ObjectCodingError {
        ObjectCodingError(.notEncodable, "A value of type \(type.quoted) cannot be archived.")
    }

    static func unsupportedCall(_ call: String, _ reason: StaticString) -> ObjectCodingError {
        ObjectCodingError(.unsupportedCall, "The coder does not support \(call): \(reason).")
    }
}

extension String {
    /// The text in quotation marks, shortened and without characters that change how what follows
    /// is shown: it may come from an archive.
    fileprivate var quoted: String {
        let limit = 100
        let plain = unicodeScalars.prefix(limit).map { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: Character("\u{FFFD}")
            default: Character(scalar)
            }
        }
        return "'\(String(plain))\(unicodeScalars.count > limit ? "…" : "")'"
    }
}
