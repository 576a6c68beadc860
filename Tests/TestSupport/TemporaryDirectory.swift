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

    deinit {
        // A program that was killed may still write into it.
        for _ in 0..<100 {
            try? FileManager.default.removeItem(atPath: path)
            guard FileManager.default.fileExists(atPath: path) else { return }
            usleep(10_000)
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
