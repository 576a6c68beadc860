import DBus
import DefaultsProtocol
import DefaultsStorage
import DefaultsTerms

/// The versions of everything that may change apart from the program.
///
/// `Documentation/CONTRIBUTING.md` says what each of them promises.
package enum VersionReport {
    /// One line for each version.
    package static var text: String {
        let rows = [
            ("D-Bus interface", "\(Contract.interface)"),
            ("C library", Version.library),
            ("database schema", "\(StorageVersions.schema)"),
            ("journal format", "\(StorageVersions.journal)"),
            ("page layout", "\(CounterPageLayout.format)"),
            ("SQLite", StorageVersions.library),
            ("libdbus", Connection.libraryVersion),
        ]
        let width = rows.map(\.0.count).max() ?? 0
        return
            (["defaultsd \(Version.current)"]
            + rows.map { name, version in
                name + String(repeating: " ", count: width - name.count + 2) + version
            }).joined(separator: "\n")
    }
}
