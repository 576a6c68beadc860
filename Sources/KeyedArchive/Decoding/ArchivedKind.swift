internal import PropertyList

/// The kind of an archived value, for types that hold values of several kinds.
///
/// Such a type cannot try one type after the other: a whole real is an integer, too, and the fields of
/// any object are a dictionary.
package enum ArchivedKind {
    case boolean, integer, real, string, data, date, array, dictionary
    /// Nil, or NSNull.
    case null
    /// Anything else, with words for it.
    case other(String)
}

/// A decoder that knows the kind of its value.
package protocol KindDecoder: Decoder {
    var kind: ArchivedKind { get }
}

extension ValueDecoder: KindDecoder {
    var kind: ArchivedKind {
        switch place.value {
        case .boolean: .boolean
        case .integer: .integer
        case .real, .singleReal: .real
        case .string: .string
        case .data: .data
        case .date: .date
        case .array: .array
        case .uid: .null
        case .set, .orderedSet: .other(session.name(of: place))
        case .dictionary: kindOfObject
        }
    }

    private var kindOfObject: ArchivedKind {
        guard place.uid != 0 else { return .dictionary }
        let name = session.archivedClass(of: place).flatMap { session.list.string(at: $0.name) }
        // A subclass may have more than the elements.
        switch name.flatMap({ FoundationClass(named: $0, in: session.list) }) {
        case .array: return .array
        case .dictionary: return .dictionary
        case .string: return .string
        case .data: return .data
        case .date: return .date
        case .null: return .null
        case .set, .orderedSet, .url, .uuid, nil: return .other(session.name(of: place))
        }
    }
}
