@preconcurrency import Glibc
import SystemCalls

/// Writes a file as a whole, or not at all.
enum OutputFile {
    struct Failure: Error {
        let message: String
    }

    /// Replaces a file: at every moment it has either its old or its new contents.
    ///
    /// Something that is not a regular file is written to directly.
    ///
    /// A new file is only for its owner, because values may be private. An existing file keeps its
    /// mode.
    static func write(_ bytes: [UInt8], to path: String) throws(Failure) {
        do throws(SystemError) {
            let status = FileStatus.ifAny(path)
            guard status.map({ $0.kind == .regular }) ?? true else {
                return try File(path, O_WRONLY).write(bytes)
            }
            // A link stays, and leads to the new file.
            let target = status == nil ? path : (try? Path.real(path)) ?? path
            try replace(target, by: bytes, mode: status?.mode)
        } catch {
            throw Failure(message: "\(error.reason).")
        }
    }

    /// - Parameter mode: That of the existing file; nil if there is none.
    private static func replace(
        _ target: String, by bytes: [UInt8], mode: mode_t?
    ) throws(SystemError) {
        let file = try File.temporary(beginning: target)
        do throws(SystemError) {
            try file.write(bytes)
            if let mode { try? file.setMode(mode & 0o777) }
            try file.synchronize()
            guard rename(file.path, target) == 0 else { throw .last("rename", target) }
        } catch {
            unlink(file.path)
            throw error
        }
    }
}
