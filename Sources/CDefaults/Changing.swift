import DefaultsClient
import KeyedArchive
import Synchronization

// Invariants
//
// 1. A key that was read has the generation of that read in `expected`.
// 2. Keys are compared by their bytes, as in the service.
// 3. After the first error, `failure` is set, and the change is not made.

/// What a `defaults_change_t` points to.
final class Change: Sendable {
    private struct State {
        var values: [KeyName: NewValue] = [:]
        var expected: [KeyName: UInt64] = [:]
        var failure: CallError?
    }

    private let named: NamedDefaults
    private let layer: DefaultsLayer
    private let state = Mutex(State())

    init(of named: NamedDefaults, in layer: DefaultsLayer) {
        (self.named, self.layer) = (named, layer)
    }

    /// Does something for the change, and keeps its first error.
    func keepingError<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            let error = CallError(error)
            state.withLock { if $0.failure == nil { $0.failure = error } }
            throw error
        }
    }

    func set(_ value: NewValue, for key: String) {
        state.withLock { $0.values[KeyName(key)] = value }
    }

    func expect(_ generation: UInt64, of key: String) {
        state.withLock { $0.expected[KeyName(key)] = generation }
    }

    /// The value of a key for this change; nil if there is none.
    func value(of key: String) throws -> StoredValue? {
        if let own = state.withLock({ $0.values[KeyName(key)] }) {
            return own.value ?? own.archive.map { StoredValue(of: $0) }
        }
        return try read(key).map { StoredValue(of: $0) } ?? named.value(of: key)
    }

    /// The archive of a key for this change; nil if there is none.
    func archive(of key: String) throws -> KeyedArchive? {
        if let own = state.withLock({ $0.values[KeyName(key)] }) { return try own.anyArchive() }
        return try read(key) ?? named.archive(of: key)
    }

    /// Asks the service, and expects that nothing changes from then on.
    private func read(_ key: String) throws -> KeyedArchive? {
        let (archive, generation) = try named.read(key, in: layer)
        state.withLock { state in
            // The first read counts: what was derived from it may be stored already.
            let name = KeyName(key)
            if state.expected[name] == nil { state.expected[name] = generation }
        }
        return archive
    }

    /// Makes the change.
    ///
    /// - Returns: The generation; nil if this did not wait.
    func commit(within timeout: UInt32) throws -> UInt64? {
        let state = state.withLock { $0 }
        if let failure = state.failure { throw failure }
        guard timeout > 0 else {
            try named.apply(state.values, expecting: state.expected, in: layer)
            return nil
        }
        return try named.commit(
            state.values, expecting: state.expected, in: layer, within: .milliseconds(timeout))
    }
}

/// The change of a pointer.
private func change(_ pointer: OpaquePointer?) throws(CallError) -> Change {
    guard let pointer else { throw .null("change") }
    guard !NamedDefaults.isForked else { throw .forked }
    return Unmanaged<Change>.fromOpaque(UnsafeRawPointer(pointer)).takeUnretainedValue()
}

// MARK: Beginning and ending

/// `defaults_begin` of defaults.h.
@_cdecl("defaults_begin")
public func begin(_ defaults: OpaquePointer?, _ layer: Int32) -> OpaquePointer? {
    result {
        let handle = try handle(defaults)
        let layer = try LayerNumber.layer(layer)
        guard [.domain, .host, .global, .globalHost].contains(layer) else {
            throw CallError(.notWritable, "Programs cannot write to the layer \(layer).")
        }
        let change = Change(of: handle.named, in: layer)
        return OpaquePointer(Unmanaged.passRetained(change).toOpaque())
    }
}

/// `defaults_commit` of defaults.h.
@_cdecl("defaults_commit")
public func commit(
    _ pointer: OpaquePointer?, _ timeout: UInt32, _ generation: UnsafeMutablePointer<UInt64>?
) -> Int32 {
    code {
        defer { cancel(pointer) }
        let made = try change(pointer).commit(within: timeout)
        if let made { generation?.pointee = made }
    }
}

/// `defaults_cancel` of defaults.h.
@_cdecl("defaults_cancel")
public func cancel(_ change: OpaquePointer?) {
    guard let change, !NamedDefaults.isForked else { return }
    Unmanaged<Change>.fromOpaque(UnsafeRawPointer(change)).release()
}

/// `defaults_generation` of defaults.h.
@_cdecl("defaults_generation")
public func generation(
    _ defaults: OpaquePointer?, _ layer: Int32, _ key: UnsafePointer<CChar>?,
    _ generation: UnsafeMutablePointer<UInt64>?
) -> Int32 {
    code {
        guard let generation else { throw CallError.null("generation") }
        let handle = try handle(defaults)
        let layer = try LayerNumber.layer(layer)
        generation.pointee = try handle.named.read(keyName(key), in: layer).generation
    }
}

// MARK: Reading

private func read<Value>(
    _ pointer: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ type: String,
    _ convert: (StoredValue) -> Value?
) -> Value? {
    let value = result { () throws -> Value? in
        let change = try change(pointer)
        return try change.keepingError {
            let name = try keyName(key)
            guard let value = try change.value(of: name) else { return nil }
            guard let converted = convert(value) else { throw CallError.notOfType(name, type) }
            return converted
        }
    }
    return value ?? nil
}

/// `defaults_change_get_bool` of defaults.h.
@_cdecl("defaults_change_get_bool")
public func changeGetBool(
    _ change: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ fallback: Bool
) -> Bool {
    read(change, key, "a boolean", \.boolValue) ?? fallback
}

/// `defaults_change_get_int64` of defaults.h.
@_cdecl("defaults_change_get_int64")
public func changeGetInt64(
    _ change: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ fallback: Int64
) -> Int64 {
    read(change, key, "an integer of 64 bits", \.integerValue).map { Int64($0) } ?? fallback
}

/// `defaults_change_get_double` of defaults.h.
@_cdecl("defaults_change_get_double")
public func changeGetDouble(
    _ change: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ fallback: Double
) -> Double {
    read(change, key, "a number", \.realValue) ?? fallback
}

/// `defaults_change_get_string` of defaults.h.
@_cdecl("defaults_change_get_string")
public func changeGetString(
    _ change: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ fallback: UnsafePointer<CChar>?
) -> UnsafeMutablePointer<CChar>? {
    copyOrFallback(read(change, key, "a string without NUL", \.textOfC), fallback)
}

/// `defaults_change_copy_json` of defaults.h.
@_cdecl("defaults_change_copy_json")
public func changeCopyJSON(
    _ pointer: OpaquePointer?, _ key: UnsafePointer<CChar>?
) -> UnsafeMutablePointer<CChar>? {
    result {
        let change = try change(pointer)
        let name = try change.keepingError { try keyName(key) }
        let archive = try change.keepingError { try change.archive(of: name) }
        guard let archive else { throw CallError.missing(name) }
        return try change.keepingError { try json(of: archive) }
    }
}

// MARK: Setting

private func set(
    _ pointer: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ value: (String) throws -> NewValue
) -> Int32 {
    code {
        let change = try change(pointer)
        try change.keepingError {
            let name = try keyName(key)
            change.set(try value(name), for: name)
        }
    }
}

/// `defaults_change_set_bool` of defaults.h.
@_cdecl("defaults_change_set_bool")
public func changeSetBool(
    _ change: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ value: Bool
) -> Int32 {
    set(change, key) { try NewValue(.bool(value), for: $0) }
}

/// `defaults_change_set_int64` of defaults.h.
@_cdecl("defaults_change_set_int64")
public func changeSetInt64(
    _ change: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ value: Int64
) -> Int32 {
    set(change, key) { try newValue(value, for: $0) }
}

/// `defaults_change_set_double` of defaults.h.
@_cdecl("defaults_change_set_double")
public func changeSetDouble(
    _ change: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ value: Double
) -> Int32 {
    set(change, key) { try NewValue(.real(value), for: $0) }
}

/// `defaults_change_set_string` of defaults.h.
@_cdecl("defaults_change_set_string")
public func changeSetString(
    _ change: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ value: UnsafePointer<CChar>?
) -> Int32 {
    set(change, key) { try NewValue(.text(text(value, "value")), for: $0) }
}

/// `defaults_change_set_bytes` of defaults.h.
@_cdecl("defaults_change_set_bytes")
public func changeSetBytes(
    _ change: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ bytes: UnsafeRawPointer?,
    _ size: Int
) -> Int32 {
    set(change, key) { try NewValue(.data(data(bytes, size)), for: $0) }
}

/// `defaults_change_set_json` of defaults.h.
@_cdecl("defaults_change_set_json")
public func changeSetJSON(
    _ change: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ json: UnsafePointer<CChar>?
) -> Int32 {
    set(change, key) { try NewValue(archive(ofJSON: json), for: $0) }
}

/// `defaults_change_set_archive` of defaults.h.
@_cdecl("defaults_change_set_archive")
public func changeSetArchive(
    _ change: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ bytes: UnsafeRawPointer?,
    _ size: Int
) -> Int32 {
    set(change, key) { try NewValue(archive(in: bytes, size), for: $0) }
}

/// `defaults_change_remove` of defaults.h.
@_cdecl("defaults_change_remove")
public func changeRemove(_ change: OpaquePointer?, _ key: UnsafePointer<CChar>?) -> Int32 {
    set(change, key) { _ in .removal }
}

/// `defaults_change_expect` of defaults.h.
@_cdecl("defaults_change_expect")
public func changeExpect(
    _ pointer: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ generation: UInt64
) -> Int32 {
    code {
        let change = try change(pointer)
        try change.keepingError { change.expect(generation, of: try keyName(key)) }
    }
}
