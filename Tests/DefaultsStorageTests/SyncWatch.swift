import Glibc
import Synchronization

/// Watches what this program has put on the medium below a directory, and lets it fail.
///
/// SQLite's own calls are not seen.
///
/// The calls of the whole process are looked at, so that only those below the directory of one test
/// are meant.
final class SyncWatch: Sendable {
    /// Whether the medium takes the file of this path.
    typealias Hook = @Sendable (String) -> Bool

    private static let hooks = Mutex<[String: Hook]>([:])

    private let directory: String

    /// - Parameter directory: Its real path.
    init(below directory: String, _ hook: @escaping Hook) {
        self.directory = directory
        SyncWatch.hooks.withLock { $0[directory] = hook }
    }

    deinit {
        stop()
    }

    func stop() {
        SyncWatch.hooks.withLock { $0[directory] = nil }
    }

    fileprivate static func permits(_ file: Int32) -> Bool {
        var name = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/self/fd/\(file)", &name, name.count - 1)
        guard length > 0 else { return true }
        let path = String(decoding: name[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self)
        let hook = hooks.withLock { hooks in hooks.first { path.hasPrefix($0.key) }?.value }
        return hook?(path) ?? true
    }

    fileprivate static func call(on file: Int32) -> Int32 {
        guard permits(file) else {
            errno = EIO
            return -1
        }
        // The next one after this program's is that of the C library; -1 is RTLD_NEXT.
        let next = dlsym(UnsafeMutableRawPointer(bitPattern: -1), "fsync")
        return unsafeBitCast(next, to: (@convention(c) (Int32) -> Int32).self)(file)
    }
}

/// Stands before that of the C library.
@_cdecl("fsync") public func watchedSync(_ file: Int32) -> Int32 {
    SyncWatch.call(on: file)
}
