internal import Foundation

/// Finds the classes that an archive names.
struct ClassLookup {
    let names: ClassNames

    /// The class of this name: one that was set for it, one of Foundation's, one that is allowed,
    /// or any of the program.
    ///
    /// An archive calls a class by its name with or without its module, as the platform is on which
    /// it was written.
    func find(_ name: String, near allowed: AllowList) -> AnyClass? {
        if let found = names.classSet(forName: name) ?? FoundationClasses.codable(named: name) {
            return found
        }
        if let found = allowed.classes.first(where: { isCalled($0, name) }) { return found }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        // Other names would be read as mangled ones, or be complained of on the standard error.
        guard (1...2).contains(parts.count), parts.allSatisfy(Self.isIdentifier) else { return nil }
        if let found = NSClassFromString(name) { return found }
        guard parts.count == 1 else { return nil }
        // Each of these looks through all types of the program.
        return Set(modules(of: allowed)).sorted().lazy
            .compactMap { NSClassFromString("\($0).\(name)") }.first
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
