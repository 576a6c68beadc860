private import Synchronization

/// Properties of a type that its coding depends on.
///
/// They are determined once for each type of the program.
///
/// They never change, and metatypes are constants of the program. So sharing them is safe, although
/// the compiler does not know this about metatypes.
final class TypeFacts: @unchecked Sendable {
    /// Foundation types with their own class and their own form in archives.
    enum Foundation: String {
        case date = "Date"
        case data = "Data"
        case url = "URL"
        case uuid = "UUID"
    }

    let type: Any.Type
    let name: TypeName
    let foundation: Foundation?
    /// Whether it is a type of Foundation, in any of its modules.
    let isFoundations: Bool
    /// The type if it is a collection that is encoded as a whole.
    let encodedCollection: (any EncodedCollection.Type)?
    /// The type if it is a collection that is decoded as a whole.
    let decodedCollection: (any DecodedCollection.Type)?
    /// The type if it is `Data` or a similar collection of bytes.
    let bytes: (any RangeReplaceableCollection<UInt8>.Type)?
    let version: (any ArchiveVersioned.Type)?
    /// The type if it provides default values.
    let defaultInitializable: (any DefaultInitializable.Type)?
    /// Whether its values are instances of a class.
    let isClass: Bool
    /// The superclass, if there is one.
    let superclass: TypeFacts?
    /// The type and its superclasses.
    var lineage: some Sequence<TypeFacts> { sequence(first: self, next: \.superclass) }

    private static let foundationModules = [
        "Foundation", "FoundationEssentials", "FoundationInternationalization",
        "FoundationNetworking", "FoundationXML",
    ]
    private static let known = Mutex<[ObjectIdentifier: TypeFacts]>([:])

    static func of(_ type: Any.Type) -> TypeFacts {
        let identifier = ObjectIdentifier(type)
        if let facts = known.withLock({ $0[identifier] }) { return facts }
        // This is outside of the lock because superclasses come here, too. If two threads do this
        // at the same time, both get the same result.
        let facts = TypeFacts(type)
        known.withLock { $0[identifier] = facts }
        return facts
    }

    private init(_ type: Any.Type) {
        self.type = type
        let name = TypeName(of: type)
        self.name = name
        isFoundations = Self.foundationModules.contains { name.qualified.hasPrefix($0 + ".") }
        foundation =
            switch type {
            case is ArchivedDate.Type: .date
            default: isFoundations ? Foundation(rawValue: name.unqualified) : nil
            }
        encodedCollection = type as? any EncodedCollection.Type
        decodedCollection = type as? any DecodedCollection.Type
        bytes = foundation == .data ? type as? any RangeReplaceableCollection<UInt8>.Type : nil
        version = type as? any ArchiveVersioned.Type
        defaultInitializable = type as? any DefaultInitializable.Type
        isClass = type is AnyClass
        superclass = (type as? AnyClass).flatMap(_getSuperclass).map(TypeFacts.of)
    }
}
