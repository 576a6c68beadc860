import KeyedArchive

/// What becomes of the value of one key.
enum Edit {
    case set(KeyedArchive)
    case remove
    /// Makes the new value of the one that is there; of nil where there is none.
    case change((KeyedArchive?) throws -> KeyedArchive)

    /// The edit that sets a value, or a part of it.
    static func setting(_ path: ValuePath?, to value: KeyedArchive) -> Edit {
        guard let path else { return .set(value) }
        return .change { try part($0, at: path).setting(path, to: value) }
    }

    /// The edit that removes a key, or a part of its value.
    static func removing(_ path: ValuePath?) -> Edit {
        guard let path else { return .remove }
        return .change { try part($0, at: path).removing(path) }
    }

    /// Another part of nothing is nothing that could be changed.
    private static func part(_ value: KeyedArchive?, at path: ValuePath) throws -> KeyedArchive {
        guard let value else { throw ToolError.noValue(for: path) }
        return value
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
