import DefaultsClient
import DefaultsProtocol
import Synchronization

/// What a `defaults_t` points to.
final class Handle: Sendable {
    let named: NamedDefaults
    let cache = Mutex(ReadCache())
    let watches = Watches()

    init(domain: String, arguments: [String]) throws(DefaultsError) {
        named = try NamedDefaults(domain: domain, arguments: arguments)
    }

    /// The pointer that the program gets, which keeps the handle.
    func retained() -> OpaquePointer {
        OpaquePointer(Unmanaged.passRetained(self).toOpaque())
    }
}

/// The handle of a pointer.
///
/// - Throws: ``CallError`` for NULL, and in a forked process.
func handle(_ pointer: OpaquePointer?) throws(CallError) -> Handle {
    guard let pointer else { throw .null("defaults") }
    // The locks may be held for ever by threads that the child does not have.
    guard !NamedDefaults.isForked else { throw .forked }
    return Unmanaged<Handle>.fromOpaque(UnsafeRawPointer(pointer)).takeUnretainedValue()
}

/// `defaults_open` of defaults.h.
@_cdecl("defaults_open")
public func open(_ domain: UnsafePointer<CChar>?) -> OpaquePointer? {
    result { try Handle(domain: domainName(domain), arguments: []).retained() }
}

/// `defaults_open_with_arguments` of defaults.h.
@_cdecl("defaults_open_with_arguments")
public func openWithArguments(
    _ domain: UnsafePointer<CChar>?, _ count: Int32,
    _ words: UnsafePointer<UnsafePointer<CChar>?>?
) -> OpaquePointer? {
    result {
        guard let words else { throw CallError.null("argv") }
        let arguments = try (0..<Int(max(0, count))).map { try word(words[$0]) }
        return try Handle(domain: domainName(domain), arguments: arguments).retained()
    }
}

/// A word of the command line, which a user may have typed in any encoding.
private func word(_ argument: UnsafePointer<CChar>?) throws(CallError) -> String {
    guard let argument else { throw .null("argv") }
    return String(decoding: bytes(of: argument), as: UTF8.self)
}

/// The name of a domain, which the client checks.
private func domainName(_ argument: UnsafePointer<CChar>?) throws(CallError) -> String {
    do throws(CallError) {
        return try text(argument, "domain")
    } catch {
        throw error.code == .tooLarge ? CallError(.name, error.message) : error
    }
}

/// `defaults_close` of defaults.h.
@_cdecl("defaults_close")
public func close(_ defaults: OpaquePointer?) {
    // In a forked process nothing can be used, nor freed.
    guard let defaults, !NamedDefaults.isForked else { return }
    let handle = Unmanaged<Handle>.fromOpaque(UnsafeRawPointer(defaults))
    handle.takeUnretainedValue().watches.close()
    handle.release()
}

/// `defaults_load` of defaults.h.
@_cdecl("defaults_load")
public func load(_ defaults: OpaquePointer?) -> Int32 {
    code { try handle(defaults).named.load() }
}

/// `defaults_state` of defaults.h.
@_cdecl("defaults_state")
public func state(_ defaults: OpaquePointer?) -> Int32 {
    result {
        switch try handle(defaults).named.defaults.state {
        case .unreachable: 0
        case .connecting: 1
        case .current, .inMemory: 2
        case .following: 3
        case .privateDaemon: 4
        }
    } ?? 0
}

/// `defaults_version` of defaults.h.
@_cdecl("defaults_version")
public func version() -> UnsafePointer<CChar> { libraryVersion.text }

/// The version in memory that is never freed.
private let libraryVersion = ConstantText(Version.current)

/// Text in memory that is never freed.
struct ConstantText: @unchecked Sendable {
    let text: UnsafePointer<CChar>

    init(_ text: String) {
        let bytes = text.utf8CString
        let memory = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
        for (place, byte) in bytes.enumerated() { memory[place] = byte }
        self.text = UnsafePointer(memory)
    }
}
