import DefaultsClient

/// The bits of `defaults_undo_flags_t`.
private struct UndoFlags: OptionSet {
    let rawValue: UInt32

    static let partial = UndoFlags(rawValue: 1)
    static let force = UndoFlags(rawValue: 2)
    static let dryRun = UndoFlags(rawValue: 4)
    static let durable = UndoFlags(rawValue: 8)

    private static let all: UndoFlags = [.partial, .force, .dryRun, .durable]

    init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// - Throws: ``CallError`` for a bit that has no meaning.
    init(checking flags: UInt32) throws(CallError) {
        rawValue = flags
        guard Self.all.isSuperset(of: self) else {
            throw CallError(
                .argument, "\(flags) has a bit that is not one of defaults_undo_flags_t.")
        }
    }

    var options: TakingBackOptions {
        var options = TakingBackOptions()
        options.isPartial = contains(.partial)
        options.isForced = contains(.force)
        options.isDurable = contains(.durable)
        return options
    }
}

/// Takes an action back, or does it again.
private func takeBack(
    _ defaults: OpaquePointer?, _ number: UInt64, _ last: UInt64, _ flags: UInt32,
    _ generation: UnsafeMutablePointer<UInt64>?, _ keys: UnsafeMutablePointer<OpaquePointer?>?,
    _ call: (NamedDefaults, [ActionReference], UndoFlags) throws -> (
        generation: UInt64, keys: [TakenBackKey]
    )
) -> Int32 {
    code {
        generation?.pointee = 0
        keys?.pointee = nil
        let named = try handle(defaults).named
        let flags = try UndoFlags(checking: flags)
        let taken = try call(named, [ActionReference(number, lastGeneration: last)], flags)
        generation?.pointee = taken.generation
        keys?.pointee = HistoryKeyList(taken.keys.map { ListedKey($0, of: named) }).retained()
    }
}

/// `defaults_undo` of defaults.h.
@_cdecl("defaults_undo")
public func undo(
    _ defaults: OpaquePointer?, _ number: UInt64, _ last: UInt64, _ flags: UInt32,
    _ generation: UnsafeMutablePointer<UInt64>?, _ keys: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    takeBack(defaults, number, last, flags, generation, keys) {
        try $0.undo($1, $2.options, isDry: $2.contains(.dryRun))
    }
}

/// `defaults_redo` of defaults.h.
@_cdecl("defaults_redo")
public func redo(
    _ defaults: OpaquePointer?, _ number: UInt64, _ last: UInt64, _ flags: UInt32,
    _ generation: UnsafeMutablePointer<UInt64>?, _ keys: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    takeBack(defaults, number, last, flags, generation, keys) {
        try $0.redo($1, $2.options, isDry: $2.contains(.dryRun))
    }
}
