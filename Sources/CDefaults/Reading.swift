import DefaultsClient
import KeyedArchive
import Synchronization

/// Reads a value of a simple kind.
///
/// - Parameter convert: Converts the value; nil if it is not of the type.
/// - Returns: Nil if the caller gets the fallback.
@inline(__always)
private func read<Value: Sendable>(
    _ defaults: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ type: StaticString,
    _ convert: @Sendable (borrowing StoredValue) -> Value?
) -> Value? {
    guard let defaults, let key, !NamedDefaults.isForked else {
        return result { try readSlowly(defaults, key, type, convert) } ?? nil
    }
    let name = NameBytes(bytes(of: key))
    let kept = Unmanaged<Handle>.fromOpaque(UnsafeRawPointer(defaults))
        ._withUnsafeGuaranteedRef { handle in
            handle.cache.withLock { cache in
                cache.withValue(of: name, in: handle.named) { value -> Kept<Value> in
                    guard let value else { return .missing }
                    return convert(value).map { .value($0) } ?? .wrong
                } ?? .unknown
            }
        }
    switch kept {
    case .value(let value):
        LastError.clear()
        return value
    case .missing:
        LastError.clear()
        return nil
    case .unknown, .wrong: return result { try readSlowly(defaults, key, type, convert) } ?? nil
    }
}

/// What a cache knows of a key.
private enum Kept<Value: Sendable>: Sendable {
    case value(Value)
    case missing
    case wrong
    case unknown
}

/// Reads a value that the cache of the handle does not have, and keeps it there.
private func readSlowly<Value: Sendable>(
    _ defaults: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ type: StaticString,
    _ convert: @Sendable (borrowing StoredValue) -> Value?
) throws -> Value? {
    let handle = try handle(defaults)
    let name = try keyName(key)
    guard let value = try handle.value(of: name) else { return nil }
    guard let converted = convert(value) else { throw CallError.notOfType(name, "\(type)") }
    return converted
}

extension Handle {
    /// The value of a key, which the cache has afterwards.
    fileprivate func value(of name: String) throws -> StoredValue? {
        let freshness = named.freshness()
        let value = try named.value(of: name)
        guard let freshness else { return value }
        var bytes = name
        bytes.withUTF8 { bytes in
            let name = NameBytes(UnsafeRawBufferPointer(bytes))
            cache.withLock { $0.put(value, for: name, freshness) }
        }
        return value
    }
}

/// `defaults_get_bool` of defaults.h.
@_cdecl("defaults_get_bool")
public func getBool(
    _ defaults: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ fallback: Bool
) -> Bool {
    read(defaults, key, "a boolean") { $0.boolValue } ?? fallback
}

/// `defaults_get_int64` of defaults.h.
@_cdecl("defaults_get_int64")
public func getInt64(
    _ defaults: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ fallback: Int64
) -> Int64 {
    read(defaults, key, "an integer of 64 bits") { $0.integerValue }.map { Int64($0) } ?? fallback
}

/// `defaults_get_double` of defaults.h.
@_cdecl("defaults_get_double")
public func getDouble(
    _ defaults: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ fallback: Double
) -> Double {
    read(defaults, key, "a number") { $0.realValue } ?? fallback
}

/// `defaults_get_string` of defaults.h.
@_cdecl("defaults_get_string")
public func getString(
    _ defaults: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ fallback: UnsafePointer<CChar>?
) -> UnsafeMutablePointer<CChar>? {
    let text = read(defaults, key, "a string without NUL") { $0.textOfC }
    return copyOrFallback(text, fallback)
}

/// A copy of a text, or of the fallback.
///
/// The error of the thread stays, unless there is no memory.
func copyOrFallback(
    _ text: String?, _ fallback: UnsafePointer<CChar>?
) -> UnsafeMutablePointer<CChar>? {
    do {
        if let text { return try copyText(text) }
        return try fallback.map { try copyText(bytes(of: $0)) }
    } catch {
        LastError.set(CallError(error))
        return nil
    }
}

extension StoredValue {
    /// The text, if a string of C can be it.
    var textOfC: String? {
        guard let text = textValue, !text.utf8.contains(0) else { return nil }
        return text
    }
}

/// `defaults_get_bytes` of defaults.h.
@_cdecl("defaults_get_bytes")
public func getBytes(
    _ defaults: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ size: UnsafeMutablePointer<Int>?
) -> UnsafeMutableRawPointer? {
    result {
        guard let size else { throw CallError.null("size") }
        size.pointee = 0
        let handle = try handle(defaults)
        let name = try keyName(key)
        guard let value = try handle.value(of: name) else { throw CallError.missing(name) }
        guard let bytes = value.dataValue else { throw CallError.notOfType(name, "data") }
        let memory = try copy(bytes)
        size.pointee = bytes.count
        return memory
    }
}

// MARK: Values of any kind

/// `defaults_copy_json` of defaults.h.
@_cdecl("defaults_copy_json")
public func copyJSON(
    _ defaults: OpaquePointer?, _ key: UnsafePointer<CChar>?
) -> UnsafeMutablePointer<CChar>? {
    result { try json(of: archive(defaults, key, in: nil)) }
}

/// `defaults_copy_json_in` of defaults.h.
@_cdecl("defaults_copy_json_in")
public func copyJSONIn(
    _ defaults: OpaquePointer?, _ layer: Int32, _ key: UnsafePointer<CChar>?
) -> UnsafeMutablePointer<CChar>? {
    result { try json(of: archive(defaults, key, in: LayerNumber.layer(layer))) }
}

/// `defaults_copy_archive` of defaults.h.
@_cdecl("defaults_copy_archive")
public func copyArchive(
    _ defaults: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ size: UnsafeMutablePointer<Int>?
) -> UnsafeMutableRawPointer? {
    result {
        guard let size else { throw CallError.null("size") }
        size.pointee = 0
        let bytes = try archive(defaults, key, in: nil).bytes
        let memory = try copy(bytes)
        size.pointee = bytes.count
        return memory
    }
}

/// The archive of a key, which must have one.
private func archive(
    _ defaults: OpaquePointer?, _ key: UnsafePointer<CChar>?, in layer: DefaultsLayer?
) throws -> KeyedArchive {
    let handle = try handle(defaults)
    let name = try keyName(key)
    guard let archive = try handle.named.archive(of: name, in: layer) else {
        throw CallError.missing(name)
    }
    return archive
}

/// The JSON of an archive, for the caller to free.
func json(of archive: KeyedArchive) throws -> UnsafeMutablePointer<CChar> {
    let text: [UInt8]
    do {
        text = try archive.json()
    } catch {
        throw CallError(.type, "The value cannot be shown as JSON: \(error)")
    }
    return try text.withUnsafeBytes { try copyText($0) }
}
