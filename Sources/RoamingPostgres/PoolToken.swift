internal import Glibc
internal import SystemCalls

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
        let (status, bytes): (FileStatus, [UInt8]?)
        do throws(SystemError) {
            let file = try File.regular(path, O_RDONLY)
            (status, bytes) = (try file.status(), try file.contents(atMost: Self.length + 64))
        } catch {
            if error.number == ENOENT { return nil }
            let isOther = error.call == File.openingRegular
            throw PoolTokenError(
                path, isOther ? "it is no file" : "it cannot be read: \(error.reason)")
        }
        guard status.owner == geteuid(), status.mode & 0o077 == 0 else {
            throw PoolTokenError(path, "others can read it; run 'chmod 600' with it")
        }
        let text = String(decoding: bytes ?? [], as: UTF8.self)
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
