/// The rule for names of keys: 1 to 1024 bytes of UTF-8 without NUL.
package enum KeyRule {
    /// The most bytes that a key may have.
    package static let maximumLength = 1024

    /// Whether a key may have this name.
    package static func allows(_ name: String) -> Bool {
        1...maximumLength ~= name.utf8.count && !name.utf8.contains(0)
    }
}
