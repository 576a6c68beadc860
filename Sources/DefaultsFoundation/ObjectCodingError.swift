public import DefaultsClient
public import Foundation

/// Why objects could not be archived, or made from an archive; and where.
public struct ObjectCodingError: Error {
    /// The kind of the error, for programs.
    public struct Code: Hashable, Sendable {
        /// The code's name, for messages and tests.
        public let name: String

        /// The class of an object is none that the caller allows at that place.
        public static let classNotAllowed = Code(name: "classNotAllowed")
        /// The program has no class of the name that the archive gives.
        public static let classNotFound = Code(name: "classNotFound")
        /// The class does not support secure coding.
        public static let notSecure = Code(name: "notSecure")
        /// The class is one of Foundation's that cannot be coded without risk, or inherits of one.
        public static let unsupportedClass = Code(name: "unsupportedClass")
        /// A field is of another kind than was asked for, or a number does not fit.
        public static let wrongType = Code(name: "wrongType")
        /// A field that was asked for is not there, where the options make that an error.
        public static let missingField = Code(name: "missingField")
        /// An object is needed to make itself.
        public static let cycle = Code(name: "cycle")
        /// An object of a known class has fields that no such object has.
        public static let badObject = Code(name: "badObject")
        /// The objects are larger, more or deeper nested than the limits allow.
        public static let limitExceeded = Code(name: "limitExceeded")
        /// The `init(coder:)` of a class returned nil.
        public static let initializerFailed = Code(name: "initializerFailed")
        /// An object called `failWithError(_:)` of its coder; `cause` is what it gave.
        public static let failed = Code(name: "failed")
        /// An object wrote the same field twice.
        public static let duplicateField = Code(name: "duplicateField")
        /// A value is no object that can be archived.
        public static let notEncodable = Code(name: "notEncodable")
        /// An object called a function of its coder that has no meaning there.
        public static let unsupportedCall = Code(name: "unsupportedCall")
    }

    /// The kind of the error.
    public let code: Code
    /// The way from the root to the object: names of fields, and numbers of elements.
    ///
    /// A dictionary's elements have numbers too, since its keys are values.
    public let path: [String]
    /// Where in the bytes the object or field begins that is wrong; nil where archives are written.
    public let byteOffset: Int?
    /// A sentence that says what is wrong; it never contains a stored value.
    public let message: String
    /// The error that an object reported, where one did.
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

// Messages name classes and fields, never values: the elements of a path are names and numbers.
extension ObjectCodingError: LoggableError {
    /// The sentence and the place.
    public var description: String {
        var places: [String] = []
        if !path.isEmpty { places.append("at \(path.joined(separator: "."))") }
        if let byteOffset { places.append("byte \(byteOffset)") }
        return places.isEmpty ? message : "\(message) (\(places.joined(separator: ", ")))"
    }
}

extension ObjectCodingError: LocalizedError {
    /// The sentence and the place.
    public var errorDescription: String? { description }
}
