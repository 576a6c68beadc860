internal import Foundation

/// Finds the classes that an archive names.
///
/// The program is searched for a name once, and that is paid: for a class that it does not have, all
/// of its types are looked through.
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
    /// - Parameter pay: Pays for a search of the program; false where that is not to be.
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
