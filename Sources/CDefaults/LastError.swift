import DefaultsClient
import Glibc

/// The codes of `defaults_error_t`.
enum ErrorCode: Int32, CaseIterable {
    case none = 0
    case argument, name, type, value, notFound, locked, notWritable, conflict, tooLarge, limit
    case tooManyChanges, unreachable, notDurable, storage, refused, forked, busy, system

    /// The code of an error of the client.
    init(_ code: DefaultsError.Code) {
        self = Self.codes[code] ?? .refused
    }

    private static let codes: [DefaultsError.Code: ErrorCode] = [
        .unreachable: .unreachable, .forked: .forked, .notWritable: .notWritable,
        .locked: .locked, .conflict: .conflict, .tooManyChanges: .tooManyChanges,
        .notFound: .notFound, .invalidName: .name, .tooLarge: .tooLarge, .limitsExceeded: .limit,
        .notDurable: .notDurable, .storageFailed: .storage, .refused: .refused,
        .undecodable: .type, .unencodable: .value, .newerVersion: .refused,
    ]

    /// The name in the header.
    var headerName: StaticString {
        switch self {
        case .none: "DEFAULTS_OK"
        case .argument: "DEFAULTS_ERROR_ARGUMENT"
        case .name: "DEFAULTS_ERROR_NAME"
        case .type: "DEFAULTS_ERROR_TYPE"
        case .value: "DEFAULTS_ERROR_VALUE"
        case .notFound: "DEFAULTS_ERROR_NOT_FOUND"
        case .locked: "DEFAULTS_ERROR_LOCKED"
        case .notWritable: "DEFAULTS_ERROR_NOT_WRITABLE"
        case .conflict: "DEFAULTS_ERROR_CONFLICT"
        case .tooLarge: "DEFAULTS_ERROR_TOO_LARGE"
        case .limit: "DEFAULTS_ERROR_LIMIT"
        case .tooManyChanges: "DEFAULTS_ERROR_TOO_MANY_CHANGES"
        case .unreachable: "DEFAULTS_ERROR_UNREACHABLE"
        case .notDurable: "DEFAULTS_ERROR_NOT_DURABLE"
        case .storage: "DEFAULTS_ERROR_STORAGE"
        case .refused: "DEFAULTS_ERROR_REFUSED"
        case .forked: "DEFAULTS_ERROR_FORKED"
        case .busy: "DEFAULTS_ERROR_BUSY"
        case .system: "DEFAULTS_ERROR_SYSTEM"
        }
    }
}

/// Why a call of the library failed.
struct CallError: Error {
    let code: ErrorCode
    let message: String

    init(_ code: ErrorCode, _ message: String) {
        (self.code, self.message) = (code, message)
    }

    /// The error of a call that has thrown this.
    init(_ error: any Error) {
        switch error {
        case let error as CallError: self = error
        case let error as DefaultsError: self.init(ErrorCode(error.code), error.message)
        default: self.init(.refused, "\(error)")
        }
    }

    static func null(_ name: String) -> CallError {
        CallError(.argument, "The argument '\(name)' is NULL.")
    }

    static func notText(_ name: String) -> CallError {
        CallError(.argument, "The argument '\(name)' is not UTF-8.")
    }

    static let noMemory = CallError(.system, "The process has no memory left.")
    static let forked = CallError(NamedDefaults.forkedError)

    static func missing(_ key: String) -> CallError {
        CallError(.notFound, "The key '\(key)' has no value.")
    }

    static func notOfType(_ key: String, _ type: String) -> CallError {
        CallError(.type, "The value of the key '\(key)' is not \(type).")
    }
}

/// The error of the last call of each thread.
///
/// A thread that has never seen an error has no memory for one.
enum LastError {
    private struct Record {
        var code: ErrorCode
        /// The sentence; nil if the code is all that is known.
        var message: UnsafeMutablePointer<CChar>?
    }

    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        let error = pthread_key_create(&key) { memory in
            guard let record = memory?.assumingMemoryBound(to: Record.self) else { return }
            free(record.pointee.message)
            record.deallocate()
        }
        return error == 0 ? key : nil
    }()

    @inline(__always)
    private static var record: UnsafeMutablePointer<Record>? {
        guard let key, let memory = pthread_getspecific(key) else { return nil }
        return memory.assumingMemoryBound(to: Record.self)
    }

    /// Notes that a call has succeeded.
    @inline(__always)
    static func clear() {
        record?.pointee.code = .none
    }

    /// Notes why a call has failed.
    static func set(_ error: CallError) {
        guard let record = record ?? makeRecord() else { return }
        free(record.pointee.message)
        record.pointee = Record(code: error.code, message: strdup(error.message))
    }

    private static func makeRecord() -> UnsafeMutablePointer<Record>? {
        guard let key else { return nil }
        let record = UnsafeMutablePointer<Record>.allocate(capacity: 1)
        record.initialize(to: Record(code: .none, message: nil))
        guard pthread_setspecific(key, record) == 0 else {
            record.deallocate()
            return nil
        }
        return record
    }

    static var code: ErrorCode { record?.pointee.code ?? .none }

    /// The sentence, which the next call of the thread may free.
    static var message: UnsafePointer<CChar> {
        let (none, noMemory): (StaticString, StaticString) = ("", "There is no memory.")
        guard let record, record.pointee.code != .none else { return none.constant }
        return record.pointee.message.map { UnsafePointer($0) } ?? noMemory.constant
    }
}

extension StaticString {
    /// The text in the library's own memory, with a NUL at its end.
    var constant: UnsafePointer<CChar> {
        UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self)
    }
}

/// `defaults_last_error` of defaults.h.
@_cdecl("defaults_last_error")
public func lastError() -> Int32 { LastError.code.rawValue }

/// `defaults_error_message` of defaults.h.
@_cdecl("defaults_error_message")
public func errorMessage() -> UnsafePointer<CChar> { LastError.message }

/// `defaults_error_name` of defaults.h.
@_cdecl("defaults_error_name")
public func errorName(_ code: Int32) -> UnsafePointer<CChar> {
    (ErrorCode(rawValue: code)?.headerName ?? "unknown").constant
}
