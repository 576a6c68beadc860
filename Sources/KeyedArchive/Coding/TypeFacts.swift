private import Synchronization

/// What the coding of a type depends on, found once for each type of the program.
///
/// It is never changed, and metatypes are constants of the program: so it is safe to share, though
/// the compiler does not see that of metatypes.
final class TypeFacts: @unchecked Sendable {
    /// What has a class of its own in Foundation, and a form of its own in archives.
    enum Foundation: String {
        case date = "Date"
        case data = "Data"
        case url = "URL"
        case uuid = "UUID"
    }

    let type: Any.Type
    let name: TypeName
    let foundation: Foundation?
    /// Whether the type is one of Foundation's, in whichever of its modules.
    let isFoundations: Bool
    /// The type if it is a collection that is encoded whole.
    let encodedCollection: (any EncodedCollection.Type)?
    /// The type if it is a collection that is decoded whole.
    let decodedCollection: (any DecodedCollection.Type)?
    /// The type if it is `Data` or bytes like it.
    let bytes: (any RangeReplaceableCollection<UInt8>.Type)?
    let version: (any ArchiveVersioned.Type)?
    /// The type if it has default values of its own.
    let defaultInitializable: (any DefaultInitializable.Type)?
    /// Whether its values are instances of a class.
    let isClass: Bool
    /// The superclass, if there is one.
    let superclass: TypeFacts?

    private static let foundationModules = [
        "Foundation", "FoundationEssentials", "FoundationInternationalization",
        "FoundationNetworking", "FoundationXML",
    ]
    private static let known = Mutex<[ObjectIdentifier: TypeFacts]>([:])

    static func of(_ type: Any.Type) -> TypeFacts {
        let identifier = ObjectIdentifier(type)
        if let facts = known.withLock({ $0[identifier] }) { return facts }
        // Outside of the lock, for superclasses come here too; who comes second changes nothing.
        let facts = TypeFacts(type)
        known.withLock { $0[identifier] = facts }
        return facts
    }

    private init(_ type: Any.Type) {
        self.type = type
        let name = TypeName(of: type)
        self.name = name
        isFoundations = Self.foundationModules.contains { name.qualified.hasPrefix($0 + ".") }
        foundation = isFoundations ? Foundation(rawValue: name.unqualified) : nil
        encodedCollection = type as? any EncodedCollection.Type
        decodedCollection = type as? any DecodedCollection.Type
        bytes = foundation == .data ? type as? any RangeReplaceableCollection<UInt8>.Type : nil
        version = type as? any ArchiveVersioned.Type
        defaultInitializable = type as? any DefaultInitializable.Type
        isClass = type is AnyClass
        superclass = (type as? AnyClass).flatMap(_getSuperclass).map(TypeFacts.of)
    }
}
