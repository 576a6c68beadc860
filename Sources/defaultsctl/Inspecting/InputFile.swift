import DBus
import Glibc

/// Reads files, no more of them than is asked for.
enum InputFile {
    struct Failure: Error {
        let message: String
    }

    private static let portion = 1 << 16

    /// The bytes of a file, or those on standard input where the path is `-`.
    static func contents(of path: String, limit: Int) throws(Failure) -> [UInt8] {
        guard path != "-" else { return try contents(of: STDIN_FILENO, limit: limit) }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(errno) }
        defer { close(descriptor) }
        return try contents(of: descriptor, limit: limit)
    }

    private static func contents(of descriptor: Int32, limit: Int) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: portion)
        while true {
            // The array is passed for the time of the call.
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Failure(errno) }
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
            guard bytes.count <= limit else {
                throw Failure(message: "It has more than \(limit) bytes, the most that are read.")
            }
        }
    }
}

extension InputFile.Failure {
    fileprivate init(_ code: Int32) {
        message = "It cannot be read: \(SystemError.words(for: code))."
    }
}
