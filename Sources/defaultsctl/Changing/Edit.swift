import KeyedArchive
import ValuePaths

/// What becomes of the value of one key.
enum Edit {
    case set(KeyedArchive)
    case remove
    /// Makes the new value of the one that is there; of nil where there is none.
    case change((KeyedArchive?) throws -> KeyedArchive)

    /// There is no value that a part could be changed of.
    struct NothingThere: Error {}

    /// The edit that sets a value, or a part of it.
    static func setting(_ path: ValuePath?, to value: KeyedArchive) -> Edit {
        guard let path else { return .set(value) }
        return .change { archive in
            guard let archive else { throw NothingThere() }
            return try archive.setting(path, to: value)
        }
    }

    /// The edit that removes a key, or a part of its value.
    ///
    /// - Parameter isLenient: Whether a part that is not there counts as removed.
    static func removing(_ path: ValuePath?, isLenient: Bool = false) -> Edit {
        guard let path else { return .remove }
        return .change { archive in
            guard let archive else { throw NothingThere() }
            do throws(ValuePathError) {
                return try archive.removing(path)
            } catch {
                guard isLenient, error.code == .notFound else { throw error }
                return archive
            }
        }
    }

    /// The edit that does what this one does, and then the next.
    func followed(by next: Edit) -> Edit {
        guard case .change(let change) = next else { return next }
        return switch self {
        case .set(let archive): .change { _ in try change(archive) }
        case .remove: .change { _ in try change(nil) }
        case .change(let first): .change { try change(first($0)) }
        }
    }
}
