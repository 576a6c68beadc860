public import DBus

/// One property of the contract, without anybody who answers for its value.
public struct PropertyDeclaration: Sendable {
    /// The member name, such as `Generation`.
    public let name: MemberName
    /// The type of its value.
    public let type: Signature
    /// Whether and how `PropertiesChanged` tells of it.
    public let emitsChanged: Property.ChangeNotice

    init(_ name: MemberName, _ type: Signature, emitsChanged: Property.ChangeNotice) {
        self.name = name
        self.type = type
        self.emitsChanged = emitsChanged
    }
}

extension Contract {
    /// The version of the daemon.
    public static let version = PropertyDeclaration("Version", "s", emitsChanged: .constant)
    /// The generation of the last change.
    public static let currentGeneration = PropertyDeclaration(
        "Generation", "t", emitsChanged: .none)
    /// The generation up to which every change is on disk.
    public static let durableGeneration = PropertyDeclaration(
        "DurableGeneration", "t", emitsChanged: .none)
    /// How many acknowledged changes are not on disk yet.
    public static let pendingChanges = PropertyDeclaration(
        "PendingChanges", "u", emitsChanged: .none)
    /// Why the disk refuses what it is given; empty while it takes it.
    public static let storageError = PropertyDeclaration("StorageError", "s", emitsChanged: .value)
    /// The file that holds the database.
    public static let databasePath = PropertyDeclaration(
        "DatabasePath", "s", emitsChanged: .constant)
    /// The largest archive that `Set` takes, in bytes.
    public static let maximumValueSize = PropertyDeclaration(
        "MaximumValueSize", "t", emitsChanged: .constant)
}
