/// A secret as the keyring has it.
struct StoredSecret: Hashable, Sendable {
    /// The type of a `String`'s bytes, which libsecret takes for a password.
    static let textType = "text/plain"
    /// The type of a keyed archive's bytes.
    static let archiveType = "application/x-plist"
    /// The most bytes that are stored: every change of a secret has the whole keyring written anew.
    static let maximumSize = 1 << 20

    let bytes: [UInt8]
    let contentType: String
}

extension StoredSecret: CustomStringConvertible, CustomReflectable {
    /// Its size; never the bytes.
    var description: String { "a secret of \(bytes.count) bytes" }
    /// Nothing.
    var customMirror: Mirror { Mirror(self, children: []) }
}
