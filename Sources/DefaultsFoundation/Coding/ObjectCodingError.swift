public import DefaultsClient
public import Foundation

/// Why objects could not be archived or decoded, and where.
public struct ObjectCodingError: Error {
    /// The kind of the error, for programs.
    public struct Code: Hashable, Sendable {
        /// The name, for messages and tests.
        public let name: String

        /// The caller does not allow an object of this class in this place.
        public static let classNotAllowed = Code(name: "classNotAllowed")
        /// The program has no class with the name in the archive.
        public static let classNotFound = Code(name: "classNotFound")
        /// The class does not support secure coding.
        public static let notSecure = Code(name: "notSecure")
        /// The class is one of Foundation's that cannot be coded safely, or inherits from one.
        public static let unsupportedClass = Code(name: "unsupportedClass")
        /// A field has another type than the one requested, or a number does not fit.
        public static let wrongType = Code(name: "wrongType")
        /// A field is missing, and the options make that an error.
        public static let missingField = Code(name: "missingField")
        /// An object contains itself, and its class does not support that.
        public static let cycle = Code(name: "cycle")
        /// The fields of an object do not fit its class.
        public static let badObject = Code(name: "badObject")
        /// There are too many objects, or they are too large or nested too deep.
        public static let limitExceeded = Code(name: "limitExceeded")
        /// The `init(coder:)` of a class returned nil.
        public static let initializerFailed = Code(name: "initializerFailed")
        /// An object called `failWithError(_:)` of its coder; `cause` is that error.
        public static let failed = Code(name: "failed")
        /// An object wrote the same field twice.
        public static let duplicateField = Code(name: "duplicateField")
        /// A value is not an object that can be archived.
        public static let notEncodable = Code(name: "notEncodable")
        /// An object called a function that its coder does not support.
        public static let unsupportedCall = Code(name: "unsupportedCall")
    }

    /// The kind of the error.
    public let code: Code
    /// The path from the root to the object: names of fields, and numbers of elements.
    ///
    /// The elements of a dictionary have numbers too, because its keys are values.
    public let path: [String]
    /// The offset of the faulty object or field in the archive; nil during archiving.
    public let byteOffset: Int?
    /// A sentence that says what is wrong; it never contains a stored value.
    public let message: String
    /// The error that an object reported, if there was one.
    public let cause: (any Error)?

    init(
        _ code: Code, path: [String] = [], at byteOffset: Int? = nil, _ message: String,
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.path = path
        self.byteOffset = byteOffset
        self.message = message
        self.cause = cause
    }

    func located(path: [String], at byteOffset: Int?) -> ObjectCodingError {
        ObjectCodingError(code, path: path, at: byteOffset, message, cause: cause)
    }
}

// A message has only names of classes and fields, and numbers of elements, but never values.
extension ObjectCodingError: LoggableError {
    /// The message and the path.
    public var description: String {
        var places: [String] = []
        if !path.isEmpty { places.append("at \(path.joined(separator: "."))") }
        if let byteOffset { places.append("byte \(byteOffset)") }
        return places.isEmpty ? message : "\(message) (\(places.joined(separator: ", ")))"
    }
}

extension ObjectCodingError: LocalizedError {
    /// The message and the path.
    public var errorDescription: String? { description }
}

/// The messages.
extension ObjectCodingError {
    static func classNotAllowed(_ name: String) -> ObjectCodingError {
        ObjectCodingError(
            .classNotAllowed,
            "An object has the class \(name.quoted), which is not allowed here. Name the class, or a "
                + "superclass of it, in the call that decodes this field.")
    }

    static func classNotFound(_ name: String) -> ObjectCodingError {
        ObjectCodingError(
            .classNotFound,
            "An object has the class \(name.quoted), which this program does not have. If the class "
                + "has another name here, set it with setClass(_:forName:).")
    }

    static func notSecure(_ name: String) -> ObjectCodingError {
        ObjectCodingError(
            .notSecure,
            "Class \(name.quoted) cannot be coded: it must inherit from NSObject, conform to "
                + "NSSecureCoding and support secure coding.")
    }

    static func unsupportedClass(_ name: String, ancestor: String) -> ObjectCodingError {
        guard name != ancestor else {
            return ObjectCodingError(
                .unsupportedClass,
                "Class \(name.quoted) of Foundation cannot be coded safely. \(advice(for: name))")
        }
        return ObjectCodingError(
            .unsupportedClass,
            "Class \(name.quoted) inherits from \(ancestor.quoted) of Foundation, whose subclasses "
                + "cannot be coded safely. Let your class inherit from NSObject, and have a field for "
                + "such an object.")
    }

    /// What to do instead of coding an object of a class of Foundation.
    private static func advice(for name: String) -> String {
        let codable = [
            "NSAffineTransform": "AffineTransform", "NSCalendar": "Calendar",
            "NSCharacterSet": "CharacterSet", "NSMutableCharacterSet": "CharacterSet",
            "NSDecimalNumber": "Decimal", "NSIndexPath": "IndexPath",
            "NSMeasurement": "Measurement", "NSURLComponents": "URLComponents",
        ]
        if let type = codable[name] { return "Use a key of the Codable type \(type)." }
        if name == "NSRegularExpression" { return "Store its pattern as a String." }
        return "Store what it consists of, in a Codable type or a class of your own."
    }

    static func wrongType(_ found: String, needs need: String) -> ObjectCodingError {
        ObjectCodingError(.wrongType, "Expected \(need), found \(found).")
    }

    static func outOfRange(_ need: String) -> ObjectCodingError {
        ObjectCodingError(.wrongType, "The number in the field does not fit in \(need).")
    }

    static let missingField = ObjectCodingError(
        .missingField, "The object has no field with this name.")

    static let missingTop = ObjectCodingError(
        .missingField, "The archive has no object with this name in its $top.")

    static let noObject = ObjectCodingError(
        .missingField, "The archive is nil where an object is needed.")

    static let cycle = ObjectCodingError(
        .cycle,
        "The object contains itself. To allow that, its class calls resolveReferences(to:) of the "
            + "coder before it decodes what refers back to it.")

    static func badObject(_ name: String, needs need: StaticString) -> ObjectCodingError {
        ObjectCodingError(.badObject, "An object of class \(name.quoted) is wrong: \(need).")
    }

    static let classRecordAsObject = ObjectCodingError(
        .badObject, "Expected an object, found a class record.")

    static let nilElement = ObjectCodingError(
        .badObject,
        "An element of a collection is nil, which collections of Foundation cannot hold.")

    static func tooDeep(limit: Int) -> ObjectCodingError {
        ObjectCodingError(.limitExceeded, "The objects are nested deeper than \(limit) levels.")
    }

    static let noStackLeft = ObjectCodingError(
        .limitExceeded,
        "The objects are nested too deep for the stack of this thread.")

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
            "The archive names more than \(limit) classes that are not allowed.")
    }

    static let tooManyComparisons = ObjectCodingError(
        .limitExceeded,
        "Too many elements of sets, or keys, have the same hash, or are large collections.")

    static func initializerFailed(_ name: String, missing: [String]) -> ObjectCodingError {
        let fields = missing.map(\.quoted).joined(separator: ", ")
        let reason = missing.isEmpty ? "" : " It asked for missing fields: \(fields)."
        return ObjectCodingError(
            .initializerFailed,
            "The init(coder:) of class \(name.quoted) returned nil.\(reason)")
    }

    static func failed(_ cause: any Error) -> ObjectCodingError {
        ObjectCodingError(.failed, "An object reported an error while it was coded.", cause: cause)
    }

    static let duplicateField = ObjectCodingError(
        .duplicateField,
        "The object writes a field with this name twice; its class and superclass may both use it.")

    static func notEncodable(_ type: String) -> ObjectCodingError {
        ObjectCodingError(.notEncodable, "A value of type \(type.quoted) cannot be archived.")
    }

    private static let structAdvice =
        "Only those of points, sizes, rectangles and ranges can. Store the numbers of another "
        + "struct, each in a field of its own."

    static func unsupportedStruct(_ type: String) -> ObjectCodingError {
        ObjectCodingError(
            .notEncodable,
            "An NSValue of the C type \(type.quoted) cannot be archived. \(structAdvice)")
    }

    static let otherStruct = ObjectCodingError(
        .badObject, "An NSValue with another C type cannot be decoded. \(structAdvice)")

    static func unsupportedCall(_ call: String, _ reason: StaticString) -> ObjectCodingError {
        ObjectCodingError(.unsupportedCall, "The coder does not support \(call): \(reason).")
    }
}

extension String {
    /// The text in quotation marks.
    ///
    /// It may come from an archive, so it is shortened, and has no characters that change how the
    /// following text is shown.
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

/// The first error of an archive's coders.
final class FailureLog {
    private(set) var first: ObjectCodingError?

    func note(_ error: ObjectCodingError) {
        first = first ?? error
    }
}
