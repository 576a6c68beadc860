public import DefaultsClient
internal import Foundation
internal import KeyedArchive

extension DefaultsMigration {
    /// A step that takes over what Foundation's UserDefaults has of a name.
    ///
    /// ```swift
    /// try await defaults.migrate([
    ///     .importingUserDefaults(named: "org.example.Game", to: 1)
    /// ])
    /// ```
    ///
    /// - Values are copied as they are, with their keys. Data that are a keyed archive
    ///   become that archive: what a program had archived to store it is an object here, and is
    ///   read by a key with its class.
    /// - A key that the user has set here already stays as it is.
    /// - UserDefaults keep their values, so an earlier version of the program still finds them.
    /// - A key that is empty, longer than 1024 bytes of UTF-8 or has a NUL in it is left out.
    ///
    /// - Parameters:
    ///   - name: The suite, as `UserDefaults(suiteName:)` takes it. What `UserDefaults.standard`
    ///     has is on Linux under the name of the program's file.
    ///   - version: The version that the domain has after the step, 1 or more.
    /// - Returns: The step. It throws ``ObjectCodingError`` if a value cannot be archived.
    public static func importingUserDefaults(named name: String, to version: Int)
        -> DefaultsMigration
    {
        DefaultsMigration(to: version) { changes in
            let values = UserDefaults.standard.persistentDomain(forName: name) ?? [:]
            for (name, value) in values where isKey(name) {
                let key = DefaultsKey<KeyedArchive?>(
                    name, coding: ValueCoding(encode: { $0 }, decode: { $0 }), default: { nil })
                guard !changes.isSet(key) else { continue }
                changes[key] = try archive(of: value)
            }
        }
    }

    /// Whether the service takes it as a key.
    private static func isKey(_ name: String) -> Bool {
        1...1024 ~= name.utf8.count && !name.utf8.contains(0)
    }

    private static func archive(of value: Any) throws -> KeyedArchive {
        if let data = value as? Data, let archive = try? KeyedArchive(validating: data) {
            return archive
        }
        return try KeyedArchive(archiving: value)
    }
}
