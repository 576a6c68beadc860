/// How objects are archived and made from archives.
public struct ObjectCodingOptions: Sendable {
    /// The names of classes in archives.
    public var classNames = ClassNames()
    /// The deepest nesting of objects that is decoded.
    ///
    /// Each level needs some kilobytes of stack, because the `init(coder:)` of an object decodes
    /// the objects in its fields. Archiving does not recurse and has no such limit.
    public var depth = 512
    /// The most fields and elements that are decoded.
    ///
    /// Shared objects count once.
    public var count = 4 << 20
    /// The most bytes of strings and data that are decoded.
    public var size = 64 << 20
    /// Whether it is an error if an object decodes a field that is missing.
    ///
    /// Otherwise the field is nil, 0 or false, as with every other unarchiver. So a field can be
    /// added to a class, and old archives can still be decoded.
    public var refusesMissingFields = false

    /// Makes the usual options.
    public init() {}
}

/// A class that sets its name in archives.
///
/// Otherwise objects are archived under the name with the module, such as `Bank.Account`, as
/// NSKeyedArchiver does on Linux. GNUstep and Objective-C do not find a class by such a name. A
/// class that other programs read needs a plain name:
///
/// ```swift
/// final class Book: NSObject, NSSecureCoding, ArchiveNamed {
///     static let archiveClassName = "Book"
/// }
/// ```
///
/// The name is used wherever such an object is archived, also inside others. Archives with the
/// class's own name, with or without its module, can be decoded as well. A subclass is archived
/// under its own name, unless it overrides the property. ``ClassNames/setName(_:for:)`` has
/// priority.
public protocol ArchiveNamed: AnyObject {
    /// The name of the class in archives.
    static var archiveClassName: String { get }
}

/// The names of classes in archives, if they differ from the names in the program.
///
/// ```swift
/// var names = ClassNames()
/// names.setClass(Account.self, forName: "LegacyAccount")  // the name in old archives
/// names.setName("Account", for: Account.self)  // the name for new ones
/// ```
public struct ClassNames: Sendable {
    private var classes: [String: AnyClass] = [:]
    private var names: [ObjectIdentifier: String] = [:]

    /// Whether Swift classes are written without the name of their module.
    ///
    /// The name is then `Account`, as the Objective-C runtime calls a class with `@objc(Account)`,
    /// and not `Bank.Account`. NSKeyedUnarchiver on Linux finds classes only by the longer name.
    /// This module finds both.
    public var omitsModules = false

    /// Makes an empty table.
    public init() {}

    /// Sets the class for objects whose class has this name in archives.
    public mutating func setClass(_ class: AnyClass, forName name: String) {
        classes[name] = `class`
    }

    /// Sets the name under which a class, but not its subclasses, is archived.
    public mutating func setName(_ name: String, for class: AnyClass) {
        names[ObjectIdentifier(`class`)] = name
    }

    /// The class that was set for a name.
    func classSet(forName name: String) -> AnyClass? {
        classes[name]
    }

    /// The name under which a class is archived.
    func name(of class: AnyClass) -> String {
        if let name = names[ObjectIdentifier(`class`)] ?? Self.ownName(of: `class`) { return name }
        let name = Self.qualifiedName(of: `class`)
        return omitsModules ? Self.withoutModule(name) : name
    }

    /// The name that the class sets; nil if it only inherits the name of its superclass.
    private static func ownName(of class: AnyClass) -> String? {
        guard let name = (`class` as? any ArchiveNamed.Type)?.archiveClassName else { return nil }
        let inherited = _getSuperclass(`class`) as? any ArchiveNamed.Type
        return name == inherited?.archiveClassName ? nil : name
    }

    /// The name with its module, as from `NSStringFromClass`, which traps for nested classes.
    ///
    /// For Foundation's classes it is the name alone.
    static func qualifiedName(of class: AnyClass) -> String {
        let name = _typeName(`class`, qualified: true)
        let isFoundation = FoundationClasses.isFoundation(name)
        // The names of private and local classes contain addresses, which differ from run to run.
        let parts = name.split(separator: ".").filter { !$0.hasPrefix("(") }
        return (isFoundation ? parts.dropFirst() : parts[...]).joined(separator: ".")
    }

    /// The name after its module.
    static func withoutModule(_ name: String) -> String {
        guard let dot = name.firstIndex(of: ".") else { return name }
        return String(name[name.index(after: dot)...])
    }
}
