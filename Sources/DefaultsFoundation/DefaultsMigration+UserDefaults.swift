public import DefaultsClient
import DefaultsTerms
internal import Foundation
internal import KeyedArchive

extension DefaultsMigration {
    /// A step that imports the values of a suite of Foundation's UserDefaults.
    ///
    /// ```swift
    /// try await defaults.migrate([
    ///     .importingUserDefaults(named: "org.example.Game", to: 1)
    /// ])
    /// ```
    ///
    /// - Values are copied with their keys. Data that contains a keyed archive becomes that
    ///   archive, so an object that a program stored as archived data is an object here. A key of
    ///   its class reads it.
    /// - A key that the user has already set here is not changed. A key that the administrator has
    ///   locked is not imported.
    /// - UserDefaults on Linux store a URL as the text of its path. Read it with a key of `String?`.
    /// - UserDefaults keep their values, so an earlier version of the program still finds them.
    /// - A key that is empty, longer than 1024 bytes of UTF-8, or contains a NUL is not imported.
    ///
    /// - Parameters:
    ///   - name: The suite, as in `UserDefaults(suiteName:)`. On Linux, the values of
    ///     `UserDefaults.standard` are under the name of the program's file.
    ///   - version: The version that the domain has after the step, 1 or more.
    /// - Returns: The step. It throws ``ObjectCodingError`` if a value cannot be archived.
    public static func importingUserDefaults(named name: String, to version: Int)
        -> DefaultsMigration
    {
        DefaultsMigration(to: version) { edits in
            let values = UserDefaults.standard.persistentDomain(forName: name) ?? [:]
            for (name, value) in values where KeyRule.allows(name) {
                let key = DefaultsKey<KeyedArchive?>(
                    name, coding: ValueCoding(encode: { $0 }, decode: { $0 }), default: nil)
                guard !edits.isSet(key), !edits.isLocked(key) else { continue }
                try edits.set(try archive(of: value), for: key)
            }
        }
    }

    private static func archive(of value: Any) throws -> KeyedArchive {
        if let data = value as? Data, let archive = try? KeyedArchive(validating: data) {
            return archive
        }
        return try KeyedArchive(archiving: value)
    }
}
