internal import Glibc

/// What a user shows with each transaction where a pooler shares sessions among users.
///
/// It is a secret. The server has its digest only.
package struct PoolToken: Sendable, Equatable {
    /// Letters and digits.
    package let text: String

    private static let length = 64

    /// A new one, of 32 random bytes.
    package static func random() -> PoolToken {
        var generator = SystemRandomNumberGenerator()
        let digits = (0..<length).map { _ in UInt8.random(in: 0..<16, using: &generator) }
        return PoolToken(digits.map { String($0, radix: 16) }.joined())
    }

    private init(_ text: String) {
        self.text = text
    }

    /// Reads the token from a file; nil if there is no such file.
    ///
    /// - Throws: ``PoolTokenError`` if the file has no token, or if others can read it.
    package init?(file path: String) throws(PoolTokenError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw PoolTokenError(path, "it cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw PoolTokenError(path, "it is no file")
        }
        guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            throw PoolTokenError(path, "others can read it; run 'chmod 600' with it")
        }
        var bytes = [UInt8](repeating: 0, count: Self.length + 64)
        let count = read(descriptor, &bytes, bytes.count)
        let text = String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
            .split(whereSeparator: \.isWhitespace)
        guard text.count == 1, text[0].utf8.count == Self.length,
            text[0].utf8.allSatisfy({ 48...57 ~= $0 || 97...102 ~= $0 })
        else {
            throw PoolTokenError(
                path, "it has no token; put in what 'defaultsd-roam server add-token' has printed")
        }
        self.text = String(text[0])
    }
}

/// Why a token cannot be used.
package struct PoolTokenError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong, and what to do: a sentence.
    package let description: String

    init(_ path: String, _ reason: String) {
        description = "the token in '\(path)' cannot be used: \(reason)"
    }
}
