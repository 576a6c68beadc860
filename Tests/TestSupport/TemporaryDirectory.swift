import Foundation
import Glibc
import Synchronization

/// The directories that all tests share.
private let sharedDirectories = Mutex<[TemporaryDirectory]>([])

/// A directory of a test's own, mode 0700, that is removed with everything in it at the end.
public final class TemporaryDirectory: Sendable {
    /// Its path, without links, so that programs report the same one.
    public let path: String

    /// Makes it below a directory; nil for the system's directory for temporary files.
    public init(in parent: String? = nil) throws {
        let parent = parent.map { URL(filePath: $0) } ?? FileManager.default.temporaryDirectory
        let template = parent.resolvingSymlinksInPath()
            .appending(path: "defaultsd-test-XXXXXX")
        var bytes = Array(template.path(percentEncoded: false).utf8CString)
        guard mkdtemp(&bytes) != nil else {
            throw CocoaError(.fileWriteUnknown)
        }
        path = String(decoding: bytes.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Makes one that all tests share, and that is removed when their process ends.
    public static func shared() throws -> TemporaryDirectory {
        let directory = try TemporaryDirectory()
        sharedDirectories.withLock { directories in
            if directories.isEmpty { atexit { sharedDirectories.withLock { $0.removeAll() } } }
            directories.append(directory)
        }
        return directory
    }

    /// Removes it, again and again while a program that was killed still writes into it.
    ///
    /// What cannot be removed is reported with the reason.
    deinit {
        let end = ContinuousClock.now + HangGuard.limit
        while true {
            let error = removeTree(path)
            guard access(path, F_OK) == 0 else { return }
            guard [0, ENOTEMPTY, ENOENT].contains(error), ContinuousClock.now < end else {
                let reason = String(cString: strerror(error))
                FileHandle.standardError.write(Data("\(path) is left behind: \(reason)\n".utf8))
                return
            }
            sched_yield()
        }
    }

    /// Writes a file into it.
    ///
    /// - Returns: The path of the file.
    @discardableResult
    public func write(_ text: String, to name: String) throws -> String {
        let file = "\(path)/\(name)"
        try text.write(toFile: file, atomically: false, encoding: .utf8)
        return file
    }
}

/// Removes a directory with everything in it.
///
/// - Returns: Why something could not be removed, as of `errno`; 0 if everything was.
private func removeTree(_ path: String) -> Int32 {
    do {
        try FileManager.default.removeItem(atPath: path)
        return 0
    } catch {
        let cause = (error as? CocoaError)?.underlying as? POSIXError
        return cause?.code.rawValue ?? EIO
    }
}
