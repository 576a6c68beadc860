import DefaultsClient
import KeyedArchive

/// What a `defaults_history_t` points to.
final class ActionList: Sendable {
    let knownFrom: Int64
    private let actions: [ListedAction]

    init(_ actions: [HistoryAction], knownFrom: Int64) {
        self.actions = actions.map { ListedAction($0) }
        self.knownFrom = knownFrom
    }

    var count: Int { actions.count }

    /// - Throws: ``CallError`` if there is no action at the place.
    func action(at place: Int) throws(CallError) -> ListedAction {
        guard actions.indices.contains(place) else {
            throw CallError(.argument, "There is no place \(place) in a list of \(count).")
        }
        return actions[place]
    }
}

/// An action, with its texts as C has them.
struct ListedAction: Sendable {
    private let action: HistoryAction
    private let texts: [OwnedText]

    init(_ action: HistoryAction) {
        self.action = action
        let author = action.author
        // In the order of `defaults_action_text_t`.
        texts = [
            author.program, author.application, author.machine, author.owner,
            action.kind.rawValue, action.note,
        ].map { OwnedText($0) }
    }

    /// - Parameter number: A `defaults_action_number_t`.
    /// - Throws: ``CallError`` for another number.
    func number(_ number: Int32) throws(CallError) -> Int64 {
        switch number {
        case 0: Int64(clamping: action.number)
        case 1: Int64(clamping: action.firstGeneration)
        case 2: Int64(clamping: action.lastGeneration)
        case 3: action.began
        case 4: action.ended
        case 5: Int64(action.keyCount)
        case 6: Int64(action.knownKeyCount)
        case 7: action.isUndone ? 1 : 0
        case 8: action.isByHand ? 1 : 0
        default: throw CallError(.argument, "\(number) is not a number of an action.")
        }
    }

    /// - Parameter text: A `defaults_action_text_t`.
    /// - Throws: ``CallError`` for another number.
    func text(_ text: Int32) throws(CallError) -> OwnedText {
        guard let place = Int(exactly: text), texts.indices.contains(place) else {
            throw CallError(.argument, "\(text) is not the number of a text of an action.")
        }
        return texts[place]
    }
}

/// The list of a pointer.
private func list(_ pointer: OpaquePointer?) throws(CallError) -> ActionList {
    guard let pointer else { throw .null("history") }
    return Unmanaged<ActionList>.fromOpaque(UnsafeRawPointer(pointer)).takeUnretainedValue()
}

/// `defaults_history` of defaults.h.
@_cdecl("defaults_history")
public func history(
    _ defaults: OpaquePointer?, _ domain: UnsafePointer<CChar>?, _ key: UnsafePointer<CChar>?,
    _ program: UnsafePointer<CChar>?, _ since: Int64, _ before: UInt64, _ limit: UInt32
) -> OpaquePointer? {
    result {
        let handle = try handle(defaults)
        var query = HistoryQuery()
        query.domain = try domain.map { try text($0, "domain") }
        query.key = try key.map { try keyName($0) }
        guard query.key == nil || query.domain != nil else { throw CallError.null("domain") }
        query.program = try program.map { try text($0, "program") }
        query.since = since == .min ? nil : since
        query.before = before == 0 ? nil : before
        if limit > 0 { query.limit = Int(limit) }
        let found = try handle.named.actions(query)
        let list = ActionList(found.actions, knownFrom: found.knownFrom)
        return OpaquePointer(Unmanaged.passRetained(list).toOpaque())
    }
}

/// `defaults_history_count` of defaults.h.
@_cdecl("defaults_history_count")
public func historyCount(_ history: OpaquePointer?) -> Int {
    history == nil ? 0 : result { try list(history).count } ?? 0
}

/// `defaults_history_known_from` of defaults.h.
@_cdecl("defaults_history_known_from")
public func historyKnownFrom(_ history: OpaquePointer?) -> Int64 {
    result { try list(history).knownFrom } ?? 0
}

/// `defaults_history_number` of defaults.h.
@_cdecl("defaults_history_number")
public func historyNumber(_ history: OpaquePointer?, _ place: Int, _ number: Int32) -> Int64 {
    result { try list(history).action(at: place).number(number) } ?? 0
}

/// `defaults_history_text` of defaults.h.
@_cdecl("defaults_history_text")
public func historyText(
    _ history: OpaquePointer?, _ place: Int, _ text: Int32
) -> UnsafePointer<CChar>? {
    result { try list(history).action(at: place).text(text).pointer }
}

/// What a key had after a change, or at a time.
private func archive(
    _ defaults: OpaquePointer?, _ domain: UnsafePointer<CChar>?, _ key: UnsafePointer<CChar>?,
    _ generation: UInt64, _ time: Int64
) throws -> KeyedArchive {
    let named = try handle(defaults).named
    let (domain, key) = (try text(domain, "domain"), try keyName(key))
    return try named.value(of: key, in: domain, atGeneration: generation, time: time)
        .archive(of: key)
}

extension HistoryValue {
    /// The archive of the value.
    ///
    /// - Throws: ``CallError`` if there was no value, or if it is not known.
    func archive(of key: String) throws(CallError) -> KeyedArchive {
        switch self {
        case .present(let archive): return archive
        case .absent: throw CallError(.notFound, "The key '\(key)' had no value.")
        case .unknown:
            throw CallError(.refused, "The history does not have the value of the key '\(key)'.")
        case .omitted:
            throw CallError(.tooLarge, "The value of the key '\(key)' does not fit into an answer.")
        }
    }
}

/// `defaults_history_copy_json_at` of defaults.h.
@_cdecl("defaults_history_copy_json_at")
public func historyCopyJSONAt(
    _ defaults: OpaquePointer?, _ domain: UnsafePointer<CChar>?, _ key: UnsafePointer<CChar>?,
    _ generation: UInt64, _ time: Int64
) -> UnsafeMutablePointer<CChar>? {
    result { try json(of: archive(defaults, domain, key, generation, time)) }
}

/// `defaults_history_copy_archive_at` of defaults.h.
@_cdecl("defaults_history_copy_archive_at")
public func historyCopyArchiveAt(
    _ defaults: OpaquePointer?, _ domain: UnsafePointer<CChar>?, _ key: UnsafePointer<CChar>?,
    _ generation: UInt64, _ time: Int64, _ size: UnsafeMutablePointer<Int>?
) -> UnsafeMutableRawPointer? {
    result {
        guard let size else { throw CallError.null("size") }
        size.pointee = 0
        let bytes = try archive(defaults, domain, key, generation, time).bytes
        let memory = try copy(bytes)
        size.pointee = bytes.count
        return memory
    }
}

/// `defaults_history_free` of defaults.h.
@_cdecl("defaults_history_free")
public func historyFree(_ history: OpaquePointer?) {
    guard let history else { return }
    Unmanaged<ActionList>.fromOpaque(UnsafeRawPointer(history)).release()
}
