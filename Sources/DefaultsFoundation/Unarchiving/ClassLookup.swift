internal import Foundation
internal import KeyedArchive
internal import PropertyList

/// Finds the classes that an archive names.
///
/// The program is searched for a name once, and that is paid: for a class that it does not have,
/// all of its types are looked through.
struct ClassLookup {
    private let names: ClassNames
    /// What the program was searched for, that in vain too.
    private var searched: [String: AnyClass?] = [:]

    init(names: ClassNames) {
        self.names = names
    }

    /// The class of this name: one that was set for it, one of Foundation's, one that is allowed,
    /// or any of the program.
    ///
    /// An archive calls a class by its name with or without its module, as the platform is on which
    /// it was written.
    ///
    /// - Parameter pay: Pays for a search of the program; false if that is not to be.
    mutating func find(
        _ name: String, near allowed: AllowList, payingBy pay: () -> Bool
    ) -> AnyClass? {
        if let found = names.classSet(forName: name) ?? FoundationClasses.codable(named: name) {
            return found
        }
        if let found = allowed.classes.first(where: { isCalled($0, name) }) { return found }
        if let found = search(name, payingBy: pay) { return found }
        guard !name.contains(".") else { return nil }
        for module in Set(modules(of: allowed)).sorted() {
            if let found = search("\(module).\(name)", payingBy: pay) { return found }
        }
        return nil
    }

    /// The class of the program with exactly this name.
    private mutating func search(_ name: String, payingBy pay: () -> Bool) -> AnyClass? {
        if let found = searched[name] { return found }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        // Other names would be read as mangled ones, or be complained of on the standard error.
        let isName = (1...2).contains(parts.count) && parts.allSatisfy(Self.isIdentifier)
        guard !isName || pay() else { return nil }
        let found: AnyClass? = isName ? NSClassFromString(name) : nil
        searched.updateValue(found, forKey: name)
        return found
    }

    private func isCalled(_ class: AnyClass, _ name: String) -> Bool {
        let qualified = ClassNames.qualifiedName(of: `class`)
        return name == qualified || name == ClassNames.withoutModule(qualified)
            || name == names.name(of: `class`)
    }

    private func modules(of allowed: AllowList) -> [Substring] {
        allowed.classes.compactMap { allowed in
            let name = ClassNames.qualifiedName(of: allowed)
            return name.firstIndex(of: ".").map { name[..<$0] }
        }
    }

    private static func isIdentifier(_ name: Substring) -> Bool {
        guard let first = name.unicodeScalars.first, !name.hasPrefix("_T") else { return false }
        return (first == "_" || first.properties.isXIDStart)
            && name.unicodeScalars.allSatisfy { $0.properties.isXIDContinue }
    }
}

/// The classes that objects may be of at one place.
struct AllowList {
    /// The classes that are allowed if a property list is decoded.
    static let propertyList = AllowList([
        NSArray.self, NSDictionary.self, NSString.self, NSNumber.self, NSData.self, NSDate.self,
    ])

    /// The classes that are always allowed below: they only hold a value.
    private static let leaves = AllowList([
        NSString.self, NSNumber.self, NSData.self, NSDate.self, NSNull.self,
    ])

    let classes: [AnyClass]
    private let identifiers: [ObjectIdentifier]

    init(_ classes: [AnyClass]) {
        self.classes = classes
        identifiers = classes.map { ObjectIdentifier($0) }
    }

    /// Whether a class or one that it inherits of is in the list.
    func admits(_ class: AnyClass) -> Bool {
        sequence(first: `class`, next: { _getSuperclass($0) }).contains { ancestor in
            identifiers.contains(ObjectIdentifier(ancestor))
        }
    }

    /// Whether an object may be an element of a collection that is allowed, or a field that is
    /// decoded without naming a class.
    func admitsBelow(_ class: AnyClass) -> Bool {
        admits(`class`) || Self.leaves.admits(`class`)
    }
}

extension KeyedArchive {
    /// No class of a program has a longer name; many objects may give one that is.
    private static let nameLimit = 1000

    /// How many hints are looked at.
    private static let hintLimit = 16

    /// The name of the class of an object with these fields, shortened if it is not a name.
    func shortClassName(of fields: Fields) -> String {
        let range = className(of: fields)
        return range.count <= Self.nameLimit ? list.text(of: range).description : "…"
    }

    /// The names of classes that may be used if the class of an object is unknown, as the archiver
    /// says.
    func classHints(of fields: Fields) -> some Sequence<String> {
        let hints = hintReferences(of: fields)
        return hints.lazy.compactMap { index -> String? in
            guard let range = list.string(at: index), range.count <= Self.nameLimit else {
                return nil
            }
            return list.text(of: range).string
        }
    }

    private func hintReferences(of fields: Fields) -> [ObjectIndex] {
        guard let reference = fields["$class", in: list],
            case .uid(let uid) = list.value(at: reference),
            let record = Fields(of: list, at: object(uid)),
            let hints = record["$classhints", in: list],
            case .array(let references) = list.value(at: hints)
        else { return [] }
        // Only the first few: many objects may have the record.
        return (0..<min(references.count, Self.hintLimit)).map { list.element($0, of: references) }
    }
}
