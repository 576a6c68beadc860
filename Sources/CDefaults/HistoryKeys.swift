import DefaultsClient
import KeyedArchive

/// What a `defaults_history_keys_t` points to.
final class HistoryKeyList: Sendable {
    private let keys: [ListedKey]

    init(_ keys: [ListedKey]) {
        self.keys = keys
    }

    var count: Int { keys.count }

    /// The pointer that the program gets, which keeps the list.
    func retained() -> OpaquePointer {
        OpaquePointer(Unmanaged.passRetained(self).toOpaque())
    }

    /// - Throws: ``CallError`` if there is no key at the place.
    func key(at place: Int) throws(CallError) -> ListedKey {
        guard keys.indices.contains(place) else {
            throw CallError(.argument, "There is no place \(place) in a list of \(count).")
        }
        return keys[place]
    }
}

/// A key with its values before and after an action, or before and after an undo.
struct ListedKey: Sendable {
    /// A value, and the way to one that the service has left out.
    private struct Side: Sendable {
        let value: HistoryValue
        /// The generation at which the key had it; 0 if that is not known.
        let generation: UInt64
    }

    private let named: NamedDefaults
    private let (domain, key): (String, String)
    private let (before, after): (Side, Side)
    private let texts: [OwnedText]

    init(_ change: HistoryChange, of named: NamedDefaults) {
        self.init(
            named, change.domain, change.key, change.standing,
            before: Side(value: change.was, generation: max(1, change.firstGeneration) - 1),
            after: Side(value: change.became, generation: change.lastGeneration))
    }

    init(_ taken: TakenBackKey, of named: NamedDefaults) {
        self.init(
            named, taken.domain, taken.key, taken.standing,
            before: Side(value: taken.now, generation: 0),
            after: Side(value: taken.target, generation: 0))
    }

    private init(
        _ named: NamedDefaults, _ domain: String, _ key: String, _ standing: HistoryStanding,
        before: Side, after: Side
    ) {
        self.named = named
        (self.domain, self.key) = (domain, key)
        (self.before, self.after) = (before, after)
        // In the order of `defaults_history_key_text_t`.
        texts = [domain, key, standing.rawValue].map { OwnedText($0) }
    }

    /// - Parameter text: A `defaults_history_key_text_t`.
    /// - Throws: ``CallError`` for another number.
    func text(_ text: Int32) throws(CallError) -> OwnedText {
        guard let place = Int(exactly: text), texts.indices.contains(place) else {
            throw CallError(.argument, "\(text) is not the number of a text of a key.")
        }
        return texts[place]
    }

    /// A `defaults_knowledge_t`.
    ///
    /// - Parameter side: A `defaults_history_side_t`.
    func knowledge(_ side: Int32) throws(CallError) -> Int32 {
        switch try self.side(side).value {
        case .absent: 0
        case .present, .omitted: 1
        case .unknown: 2
        }
    }

    /// The archive of a value, which is asked for if the service has left it out.
    ///
    /// - Parameter side: A `defaults_history_side_t`.
    func archive(_ side: Int32) throws -> KeyedArchive {
        let side = try self.side(side)
        var value = side.value
        if case .omitted = value {
            guard !NamedDefaults.isForked else { throw CallError.forked }
            value = try named.value(of: key, in: domain, atGeneration: try Self.known(side, key))
        }
        return try value.archive(of: key)
    }

    private static func known(_ side: Side, _ key: String) throws(CallError) -> UInt64 {
        guard side.generation > 0 else {
            throw CallError(
                .tooLarge,
                "The service has left out the value of the key '\(key)', which is large. List the keys of "
                    + "the action to read it.")
        }
        return side.generation
    }

    private func side(_ number: Int32) throws(CallError) -> Side {
        switch number {
        case 0: before
        case 1: after
        default: throw CallError(.argument, "\(number) is not the number of a side.")
        }
    }
}

/// The list of a pointer.
private func list(_ pointer: OpaquePointer?) throws(CallError) -> HistoryKeyList {
    guard let pointer else { throw .null("keys") }
    return Unmanaged<HistoryKeyList>.fromOpaque(UnsafeRawPointer(pointer)).takeUnretainedValue()
}

/// `defaults_history_keys` of defaults.h.
@_cdecl("defaults_history_keys")
public func historyKeys(_ defaults: OpaquePointer?, _ number: UInt64) -> OpaquePointer? {
    result {
        let named = try handle(defaults).named
        let changes = try named.changes(of: number)
        return HistoryKeyList(changes.map { ListedKey($0, of: named) }).retained()
    }
}

/// `defaults_history_keys_count` of defaults.h.
@_cdecl("defaults_history_keys_count")
public func historyKeysCount(_ keys: OpaquePointer?) -> Int {
    keys == nil ? 0 : result { try list(keys).count } ?? 0
}

/// `defaults_history_keys_text` of defaults.h.
@_cdecl("defaults_history_keys_text")
public func historyKeysText(
    _ keys: OpaquePointer?, _ place: Int, _ text: Int32
) -> UnsafePointer<CChar>? {
    result { try list(keys).key(at: place).text(text).pointer }
}

/// `defaults_history_keys_knowledge` of defaults.h.
@_cdecl("defaults_history_keys_knowledge")
public func historyKeysKnowledge(_ keys: OpaquePointer?, _ place: Int, _ side: Int32) -> Int32 {
    result { try list(keys).key(at: place).knowledge(side) } ?? 2
}

/// `defaults_history_keys_copy_json` of defaults.h.
@_cdecl("defaults_history_keys_copy_json")
public func historyKeysCopyJSON(
    _ keys: OpaquePointer?, _ place: Int, _ side: Int32
) -> UnsafeMutablePointer<CChar>? {
    result { try json(of: list(keys).key(at: place).archive(side)) }
}

/// `defaults_history_keys_copy_archive` of defaults.h.
@_cdecl("defaults_history_keys_copy_archive")
public func historyKeysCopyArchive(
    _ keys: OpaquePointer?, _ place: Int, _ side: Int32, _ size: UnsafeMutablePointer<Int>?
) -> UnsafeMutableRawPointer? {
    result {
        guard let size else { throw CallError.null("size") }
        size.pointee = 0
        let bytes = try list(keys).key(at: place).archive(side).bytes
        let memory = try copy(bytes)
        size.pointee = bytes.count
        return memory
    }
}

/// `defaults_history_keys_free` of defaults.h.
@_cdecl("defaults_history_keys_free")
public func historyKeysFree(_ keys: OpaquePointer?) {
    guard let keys else { return }
    Unmanaged<HistoryKeyList>.fromOpaque(UnsafeRawPointer(keys)).release()
}
