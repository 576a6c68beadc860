/// What the name of a key may be: 1 to 1024 bytes of UTF-8 without NUL.
package enum KeyRule {
    /// The most bytes that a key has.
    package static let maximumLength = 1024

    /// Whether a name may be that of a key.
    package static func allows(_ name: String) -> Bool {
        1...maximumLength ~= name.utf8.count && !name.utf8.contains(0)
    }
}
