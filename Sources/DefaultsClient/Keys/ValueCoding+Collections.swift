internal import KeyedArchive

extension ValueCoding {
    /// The coding of an array whose elements have a coding of their own.
    ///
    /// ```swift
    /// static let accounts = DefaultsKey<[StoredAccount]>(
    ///     "Accounts", coding: .array(of: .object(ofClass: StoredAccount.self)), default: { [] })
    /// ```
    ///
    /// The elements of a Codable type are stored as ``codable(encoder:decoder:)`` of the array stores
    /// them, so one can replace the other. Other programs and `defaultsctl` see an array.
    ///
    /// An element that its coding encodes as nothing, such as a nil, is an error: an array cannot
    /// leave it out.
    public static func array<Element>(of element: ValueCoding<Element>) -> ValueCoding
    where Value == [Element] {
        ValueCoding(
            isShared: element.isShared,
            encode: { values in
                let archives = try values.enumerated().map { index, value in
                    try element.archive(of: value, at: .index(index))
                }
                return try KeyedArchive(array: archives)
            },
            // The elements of one array have nothing to do with those of another.
            fill: { archive, _ in
                try archive.elements().enumerated().map { index, part in
                    try element.value(of: part, at: .index(index)) { nil }
                }
            })
    }

    /// The coding of a dictionary whose values have a coding of their own.
    ///
    /// ```swift
    /// static let accounts = DefaultsKey<[String: StoredAccount]>(
    ///     "Accounts", coding: .dictionary(of: .object(ofClass: StoredAccount.self)),
    ///     default: { [:] })
    /// ```
    ///
    /// It is the same as with ``array(of:)``. A value takes missing fields from the value of the
    /// default under the same key.
    public static func dictionary<Element>(of element: ValueCoding<Element>) -> ValueCoding
    where Value == [String: Element] {
        ValueCoding(
            isShared: element.isShared,
            encode: { values in
                let archives = try values.map { key, value in
                    (key, try element.archive(of: value, at: .name(key)))
                }
                return try KeyedArchive(dictionary: Dictionary(uniqueKeysWithValues: archives))
            },
            fill: { archive, defaultValue in
                let entries = try archive.entries().map { key, part in
                    (key, try element.value(of: part, at: .name(key)) { defaultValue()?[key] })
                }
                return Dictionary(uniqueKeysWithValues: entries)
            })
    }
}

// MARK: Elements

extension ValueCoding {
    /// The archive of an element of a collection.
    fileprivate func archive(of value: Value, at key: PathKey) throws -> KeyedArchive {
        do {
            guard let archive = try encode(value) else {
                throw EncodingError.nothing(of: Value.self)
            }
            return archive
        } catch let error as EncodingError {
            throw error.inside(key)
        }
    }

    /// The value of an element of a collection.
    fileprivate func value(
        of archive: KeyedArchive, at key: PathKey, default defaultValue: @escaping () -> Value?
    ) throws -> Value {
        do {
            return try value(of: archive, default: defaultValue)
        } catch let error as DecodingError {
            throw error.inside(key)
        }
    }
}

extension EncodingError {
    fileprivate static func nothing(of type: Any.Type) -> EncodingError {
        .invalidValue(
            type,
            Context(
                codingPath: [],
                debugDescription:
                    "The element is encoded as nothing, and a collection cannot leave it out."))
    }

    /// The error of an element as an error of its collection.
    fileprivate func inside(_ key: PathKey) -> EncodingError {
        guard case .invalidValue(let value, let context) = self else { return self }
        return .invalidValue(
            value,
            Context(
                codingPath: [key] + context.codingPath,
                debugDescription: context.debugDescription,
                underlyingError: context.underlyingError))
    }
}

extension DecodingError {
    /// The error of an element as an error of its collection.
    fileprivate func inside(_ key: PathKey) -> DecodingError {
        func outer(_ context: Context) -> Context {
            Context(
                codingPath: [key] + context.codingPath,
                debugDescription: context.debugDescription,
                underlyingError: context.underlyingError)
        }
        return switch self {
        case .typeMismatch(let type, let context): .typeMismatch(type, outer(context))
        case .valueNotFound(let type, let context): .valueNotFound(type, outer(context))
        case .keyNotFound(let missing, let context): .keyNotFound(missing, outer(context))
        case .dataCorrupted(let context): .dataCorrupted(outer(context))
        @unknown default: self
        }
    }
}
