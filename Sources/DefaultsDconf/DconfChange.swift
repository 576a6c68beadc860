internal import DBus
package import DconfFiles
package import DefaultsProtocol
internal import DefaultsTerms

// Invariants
//
// 1. Whatever the bytes are, this ends with a change or an error, and no error contains a value.
// 2. A path is in a change at most once. What is set explicitly is not reset by its directory.

/// What a program asks dconf's service to change: the argument of `Change`.
///
/// It is a dictionary in GVariant's form, from paths to values. A key without a value is reset, and so is
/// everything below a directory without a value.
package struct DconfChange: Sendable {
    /// A setting, and its new value; nil to reset it.
    package typealias Assignment = (path: SettingsPath, value: ExactValue?)

    /// The settings that are named.
    package private(set) var assignments: [Assignment] = []
    /// The directories below which everything is reset.
    package private(set) var directories = DconfDirectories()

    private static let type = ExactType.array(
        .entry(key: .string, value: .maybe(.variant)))

    /// Reads the argument.
    ///
    /// - Throws: ``DBusError`` with the name `InvalidArgs`.
    package init(_ bytes: [UInt8]) throws {
        let entries: ExactValue
        do {
            entries = try ExactValue(gvariant: bytes[...], as: Self.type)
        } catch {
            throw Self.invalid("The argument is not a change of dconf. \(error)")
        }
        guard case .elements(let entries) = entries.content else { return }
        var assignments: [SettingsPath: ExactValue?] = [:]
        for entry in entries {
            guard case .elements(let pair) = entry.content, pair.count == 2,
                case .string(let path) = pair[0].content,
                case .elements(let content) = pair[1].content
            else { continue }
            try add(path, content.first, to: &assignments)
        }
        self.assignments = assignments.map { ($0.key, $0.value) }
    }

    private mutating func add(
        _ path: String, _ content: ExactValue?, to assignments: inout [SettingsPath: ExactValue?]
    ) throws {
        if path.utf8.last == UInt8(ascii: "/") {
            guard content == nil else {
                throw Self.invalid("\(path.quotedForMessage) is a directory, so it has no value.")
            }
            guard path == "/" || SettingsPath.isPathOfKey(String(path.dropLast())) else {
                throw Self.invalid("\(path.quotedForMessage) is not the path of a directory.")
            }
            return directories.insert(path)
        }
        guard let key = SettingsPath(path) else {
            throw Self.invalid(
                "\(path.quotedForMessage) is not the path of a key, or it is too long.")
        }
        guard let content else { return assignments[key] = .some(nil) }
        guard case .variant(let value) = content.content else { return }
        assignments[key] = value
    }

    private static func invalid(_ message: String) -> DBusError {
        DBusError(.invalidArguments, message)
    }
}
