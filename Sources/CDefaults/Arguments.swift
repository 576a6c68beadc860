import DefaultsClient
import Glibc

// What the program passes is checked here, before anything relies on it.

/// The bytes of a string of C, without the NUL.
@inline(__always)
func bytes(of text: UnsafePointer<CChar>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: text, count: strlen(text))
}

/// The text of an argument, which has a limit.
///
/// - Throws: ``CallError`` for NULL, for text that is not UTF-8, and for text that is too long.
func text(
    _ argument: UnsafePointer<CChar>?, _ name: String, upTo limit: Int = largestText
) throws(CallError) -> String {
    guard let argument else { throw .null(name) }
    let bytes = bytes(of: argument)
    guard bytes.count <= limit else {
        throw CallError(.tooLarge, "The argument '\(name)' has \(bytes.count) bytes.")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .notText(name) }
    return text
}

/// The most bytes of a text: more than the largest value in any form.
private let largestText = 64 << 20

/// The bytes of an argument.
func data(
    _ start: UnsafeRawPointer?, _ size: Int, upTo limit: Int = largestText
) throws(CallError) -> [UInt8] {
    // A size_t above the largest Int comes as a negative number.
    guard size >= 0, size <= limit else {
        throw CallError(.tooLarge, "A value may have 16 MiB.")
    }
    guard let start else {
        guard size == 0 else { throw .null("bytes") }
        return []
    }
    return Array(UnsafeRawBufferPointer(start: start, count: size))
}

/// The name of a key.
func keyName(_ argument: UnsafePointer<CChar>?) throws(CallError) -> String {
    guard let argument else { throw .null("key") }
    return try keyName(in: bytes(of: argument))
}

/// The name of a key in its bytes.
func keyName(in bytes: UnsafeRawBufferPointer) throws(CallError) -> String {
    guard let name = String(validating: bytes, as: UTF8.self) else {
        throw CallError(.name, "The name of the key is not UTF-8.")
    }
    do throws(DefaultsError) {
        try NamedDefaults.check(key: name)
    } catch {
        throw CallError(error)
    }
    return name
}

// MARK: Results

/// A copy of bytes that the caller frees, with a NUL after them.
func copy(_ bytes: UnsafeRawBufferPointer) throws(CallError) -> UnsafeMutableRawPointer {
    guard let memory = malloc(bytes.count + 1) else { throw .noMemory }
    if let start = bytes.baseAddress { memcpy(memory, start, bytes.count) }
    memory.storeBytes(of: 0, toByteOffset: bytes.count, as: UInt8.self)
    return memory
}

/// A copy of bytes that the caller frees, with a NUL after them.
func copy(_ bytes: [UInt8]) throws -> UnsafeMutableRawPointer {
    try bytes.withUnsafeBytes { try copy($0) }
}

/// A copy of text that the caller frees.
func copyText(_ bytes: UnsafeRawBufferPointer) throws(CallError) -> UnsafeMutablePointer<CChar> {
    try copy(bytes).assumingMemoryBound(to: CChar.self)
}

/// A copy of text that the caller frees.
func copyText(_ text: String) throws -> UnsafeMutablePointer<CChar> {
    var text = text
    return try text.withUTF8 { try copyText(UnsafeRawBufferPointer($0)) }
}

/// `defaults_free` of defaults.h.
@_cdecl("defaults_free")
public func freeMemory(_ memory: UnsafeMutableRawPointer?) {
    free(memory)
}

// MARK: Calls

/// Does what a function returns a code for.
func code(_ body: () throws -> Void) -> Int32 {
    do {
        try body()
        LastError.clear()
        return 0
    } catch {
        let error = CallError(error)
        LastError.set(error)
        return error.code.rawValue
    }
}

/// Does what a function returns a value for.
///
/// - Returns: Nil after an error.
func result<Value>(_ body: () throws -> Value) -> Value? {
    do {
        let value = try body()
        LastError.clear()
        return value
    } catch {
        LastError.set(CallError(error))
        return nil
    }
}
