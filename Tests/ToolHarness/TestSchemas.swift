import Foundation

/// The schemas of GSettings in `Tests/Schemas`.
///
/// `glib-compile-schemas Tests/Schemas` compiles them again after a change.
enum TestSchemas {
    /// Their directory.
    static let directory = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Schemas").path(percentEncoded: false)
}
