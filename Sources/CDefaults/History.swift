import DefaultsClient

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

/// `defaults_history_free` of defaults.h.
@_cdecl("defaults_history_free")
public func historyFree(_ history: OpaquePointer?) {
    guard let history else { return }
    Unmanaged<ActionList>.fromOpaque(UnsafeRawPointer(history)).release()
}
