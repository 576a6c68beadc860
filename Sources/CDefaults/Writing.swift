import DefaultsClient
import KeyedArchive

/// Sets a key to a value that is checked here.
private func set(
    _ defaults: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ value: (String) throws -> NewValue
) -> Int32 {
    code {
        let handle = try handle(defaults)
        let name = try keyName(key)
        try handle.named.set(value(name), for: name)
    }
}

/// `defaults_set_bool` of defaults.h.
@_cdecl("defaults_set_bool")
public func setBool(
    _ defaults: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ value: Bool
) -> Int32 {
    set(defaults, key) { try NewValue(.bool(value), for: $0) }
}

/// `defaults_set_int64` of defaults.h.
@_cdecl("defaults_set_int64")
public func setInt64(
    _ defaults: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ value: Int64
) -> Int32 {
    set(defaults, key) { try newValue(value, for: $0) }
}

/// `defaults_set_double` of defaults.h.
@_cdecl("defaults_set_double")
public func setDouble(
    _ defaults: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ value: Double
) -> Int32 {
    set(defaults, key) { try NewValue(.real(value), for: $0) }
}

/// `defaults_set_string` of defaults.h.
@_cdecl("defaults_set_string")
public func setString(
    _ defaults: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ value: UnsafePointer<CChar>?
) -> Int32 {
    set(defaults, key) { try NewValue(.text(text(value, "value")), for: $0) }
}

/// `defaults_set_bytes` of defaults.h.
@_cdecl("defaults_set_bytes")
public func setBytes(
    _ defaults: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ bytes: UnsafeRawPointer?,
    _ size: Int
) -> Int32 {
    set(defaults, key) { try NewValue(.data(data(bytes, size)), for: $0) }
}

/// `defaults_set_json` of defaults.h.
@_cdecl("defaults_set_json")
public func setJSON(
    _ defaults: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ json: UnsafePointer<CChar>?
) -> Int32 {
    set(defaults, key) { try NewValue(archive(ofJSON: json), for: $0) }
}

/// `defaults_set_archive` of defaults.h.
@_cdecl("defaults_set_archive")
public func setArchive(
    _ defaults: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ bytes: UnsafeRawPointer?,
    _ size: Int
) -> Int32 {
    set(defaults, key) { try NewValue(archive(in: bytes, size), for: $0) }
}

/// `defaults_remove` of defaults.h.
@_cdecl("defaults_remove")
public func remove(_ defaults: OpaquePointer?, _ key: UnsafePointer<CChar>?) -> Int32 {
    set(defaults, key) { _ in .removal }
}

// MARK: Values

/// The new value of an integer.
func newValue(_ value: Int64, for key: String) throws -> NewValue {
    guard let value = Int(exactly: value) else {
        throw CallError(.value, "The integer is too large for this machine.")
    }
    return try NewValue(.integer(value), for: key)
}

/// The archive of a value in JSON.
func archive(ofJSON argument: UnsafePointer<CChar>?) throws -> KeyedArchive {
    let text = try text(argument, "json")
    do throws(JSONError) {
        return try KeyedArchive(json: text)
    } catch {
        let fault = error.code == .syntax ? "is not JSON" : "cannot be stored"
        throw CallError(.value, "The value \(fault): \(error)")
    }
}

/// The archive in the bytes of an argument.
func archive(in bytes: UnsafeRawPointer?, _ size: Int) throws -> KeyedArchive {
    let bytes = try data(bytes, size)
    do throws(ArchiveError) {
        return try KeyedArchive(validating: bytes)
    } catch {
        throw CallError(.value, "The bytes are not a keyed archive: \(error)")
    }
}

// MARK: Waiting

/// `defaults_flush` of defaults.h.
@_cdecl("defaults_flush")
public func flush(_ defaults: OpaquePointer?, _ timeout: UInt32) -> Int32 {
    code { try handle(defaults).named.flush(within: .milliseconds(timeout)) }
}

/// `defaults_synchronize` of defaults.h.
@_cdecl("defaults_synchronize")
public func synchronize(_ defaults: OpaquePointer?, _ timeout: UInt32) -> Int32 {
    code { try handle(defaults).named.synchronize(within: .milliseconds(timeout)) }
}
