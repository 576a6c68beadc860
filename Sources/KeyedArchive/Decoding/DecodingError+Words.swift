internal import PropertyList
internal import Wording

extension ArchiveError.Code {
    /// A value of the archive does not fit the type that is decoded from it.
    public static let undecodable = ArchiveError.Code(name: "undecodable")
}

/// What is wrong with a value, without its location.
struct DecodingProblem {
    enum Kind {
        case corrupted
        case mismatch(Any.Type)
        case missing(Any.Type)
    }

    let kind: Kind
    let message: String
}

extension DecodingSession {
    /// The error for a problem with a value.
    func error(
        _ problem: DecodingProblem, _ place: DecodingPlace, _ location: DecodingLocation
    ) -> DecodingError {
        // The length of the path depends on the depth of the value, and a type can try and fail for
        // each value. So paths are paid for.
        _ = affords((location.parent?.depth ?? 0) * Self.valueCost)
        let offset = list.byteOffset(of: place.index)
        let context = DecodingError.Context(
            codingPath: location.path, debugDescription: problem.message,
            underlyingError: ArchiveError(.undecodable, at: offset, problem.message))
        return switch problem.kind {
        case .corrupted: .dataCorrupted(context)
        case .mismatch(let type): .typeMismatch(type, context)
        case .missing(let type): .valueNotFound(type, context)
        }
    }

    /// The error for a value of the wrong kind.
    func mismatch(
        _ type: Any.Type, _ need: StaticString, _ place: DecodingPlace,
        _ location: DecodingLocation
    ) -> DecodingError {
        let found = "Expected \(need), found \(name(of: place))."
        return error(
            DecodingProblem(
                kind: place.isNil ? .missing(type) : .mismatch(type), message: found),
            place, location)
    }

    /// The name of a class, shortened for errors.
    func className(_ archived: ArchivedClass) -> Text {
        list.string(at: archived.name).map { range in
            list.text(of: list.prefix(DecodingError.longestClassName, of: range))
        } ?? ""
    }

    /// The kind of a value, without the value.
    func name(of place: DecodingPlace) -> String {
        switch place.value {
        case .boolean: "a boolean"
        case .integer: "an integer"
        case .real, .singleReal: "a real"
        case .date: "a date"
        case .data: "data"
        case .string: "a string"
        case .uid: "nil"
        case .array: "an array"
        case .set, .orderedSet: "a set"
        case .dictionary:
            if let archived = archivedClass(of: place) {
                "an object of class \(DecodingError.quoted(className(archived)))"
            } else {
                place.uid == 0 ? "a dictionary" : "a class"
            }
        }
    }
}

/// The messages of the decoder's errors.
extension DecodingError {
    static func notArchive(_ error: ArchiveError) -> DecodingError {
        .dataCorrupted(
            Context(codingPath: [], debugDescription: error.message, underlyingError: error))
    }

    static func noRoot(_ key: String?, count: Int) -> DecodingError {
        let message =
            key == nil
            ? "The archive has \(count) roots, and none is called \"root\". Give the name of one."
            : "The archive has no root of this name."
        return .keyNotFound(
            PathKey.name(key ?? "root"),
            Context(codingPath: [], debugDescription: message))
    }

    static func tooLarge(limit: Int, at path: [any CodingKey]) -> DecodingError {
        .dataCorrupted(
            Context(
                codingPath: path,
                debugDescription:
                    "The archive is larger than \(limit) bytes if each shared object is decoded again."
            ))
    }

    static func missingField(_ key: some CodingKey, at path: [any CodingKey]) -> DecodingError {
        .keyNotFound(
            key,
            Context(
                codingPath: path,
                debugDescription: "The object has no field \"\(key.stringValue)\"."))
    }

    static func noMoreElements(
        _ type: Any.Type, count: Int, at path: [any CodingKey]
    ) -> DecodingError {
        .valueNotFound(
            type,
            Context(
                codingPath: path,
                debugDescription:
                    "The array has only \(counted(count, "element"))."))
    }

    static func onlyString(_ type: Any.Type, at path: [any CodingKey]) -> DecodingError {
        .typeMismatch(
            type,
            Context(
                codingPath: path, debugDescription: "A UUID is decoded as a single string."))
    }

    static func tooDeep(limit: Int) -> DecodingProblem {
        DecodingProblem(
            kind: .corrupted, message: "The value is nested deeper than \(limit) levels.")
    }

    static func tooManyBases(limit: Int) -> DecodingProblem {
        DecodingProblem(
            kind: .corrupted, message: "The URL has a chain of more than \(limit) bases.")
    }

    static let circle = DecodingProblem(
        kind: .corrupted,
        message: "The object contains itself, which a decoded value cannot.")

    static let unpairedSurrogate = DecodingProblem(
        kind: .corrupted,
        message: "The string has an unpaired surrogate, which a Swift string cannot have.")

    static let keyIsNoString = DecodingProblem(
        kind: .corrupted, message: "A key of the dictionary is not a string.")

    static let duplicateKey = DecodingProblem(
        kind: .corrupted, message: "The dictionary has the same key twice.")

    static func doesNotFit(_ type: Any.Type) -> DecodingProblem {
        DecodingProblem(
            kind: .corrupted, message: "\(type) cannot hold the number exactly.")
    }

    static func newerVersion(_ version: Int, than known: Int, of type: Any.Type) -> DecodingProblem
    {
        DecodingProblem(
            kind: .corrupted,
            message: "The object has version \(version) of \(type); only versions up to \(known) "
                + "are known here.")
    }

    static func otherClass(_ name: Text, type: TypeFacts) -> DecodingProblem {
        DecodingProblem(
            kind: .mismatch(type.type),
            message: "The object has the class \(quoted(name)), which is not known to be "
                + "\"\(type.name.unqualified)\". If it is, call setClass(_:forClassName:).")
    }

    /// The most code units of a class name that are read: more than are shown.
    static let longestClassName = 2 * (80 + 1)

    /// The name of a class in quotes.
    ///
    /// It is not a stored value, but may have any length.
    static func quoted(_ className: Text) -> String {
        let scalars = className.description.unicodeScalars
        let plain = scalars.prefix(80).map { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: Character("\u{FFFD}")
            default: Character(scalar)
            }
        }
        return "\"" + String(plain) + (scalars.count > 80 ? "…\"" : "\"")
    }
}
