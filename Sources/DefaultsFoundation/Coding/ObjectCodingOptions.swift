/// How objects are archived and made from archives.
public struct ObjectCodingOptions: Sendable {
    /// The names of classes in archives.
    public var classNames = ClassNames()
    /// The deepest nesting of objects that is decoded.
    ///
    /// Each level needs some kilobytes of stack, because an object's `init(coder:)` decodes those
    /// below it. Archiving does not recurse and has no such limit.
    public var depth = 512
    /// The most fields and elements that are made, those of shared objects counted once.
    public var count = 4 << 20
    /// The most bytes of strings and data that are made.
    public var size = 64 << 20
    /// Whether a field that an object asks for and that is not there is an error.
    ///
    /// Otherwise it is nil, 0 or false, as from every other unarchiver, so a field can be added to
    /// a class and old archives stay readable.
    public var refusesMissingFields = false

    /// Makes the usual options.
    public init() {}
}

/// A class that sets its name in archives.
///
/// Objects are archived under the name with the module, `Bank.Account`, as NSKeyedArchiver does on
/// Linux. GNUstep and Objective-C do not find a class by such a name. A class that other programs
/// are to read has a plain one:
///
/// ```swift
/// final class Book: NSObject, NSSecureCoding, ArchiveNamed {
///     static let archiveClassName = "Book"
/// }
/// ```
///
/// It holds wherever such an object is, also inside others. Archives with the name of the class
/// itself, with or without its module, are read as well. A subclass is archived under its own name:
/// to have another, it overrides the property. ``ClassNames/setName(_:for:)`` comes before.
public protocol ArchiveNamed: AnyObject {
    /// The name of the class in archives.
    static var archiveClassName: String { get }
}

/// The names of classes in archives, if they differ from the names in the program.
///
/// ```swift
/// var names = ClassNames()
/// names.setClass(Account.self, forName: "LegacyAccount")  // what old archives say
/// names.setName("Account", for: Account.self)  // what new ones are to say
/// ```
public struct ClassNames: Sendable {
    private var classes: [String: AnyClass] = [:]
    private var names: [ObjectIdentifier: String] = [:]

    /// Whether classes of Swift are written without the name of their module: `Account`, as the
    /// runtime of Objective-C calls a class with `@objc(Account)`, and not `Bank.Account`.
    ///
    /// NSKeyedUnarchiver on Linux finds classes only by the longer name. This module finds both.
    public var omitsModules = false

    /// Makes an empty table.
    public init() {}

    /// Sets the class for objects whose class has this name in archives.
    public mutating func setClass(_ class: AnyClass, forName name: String) {
        classes[name] = `class`
    }

    /// Sets the name of a class, but not of its subclasses, in archives that are written.
    public mutating func setName(_ name: String, for class: AnyClass) {
        names[ObjectIdentifier(`class`)] = name
    }

    /// The class that was set for a name.
    func classSet(forName name: String) -> AnyClass? {
        classes[name]
    }

    /// The name of the class in an archive that is written.
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

    /// The name with its module, as from `NSStringFromClass`, which traps for nested classes; of
    /// Foundation's classes it is the name alone.
    static func qualifiedName(of class: AnyClass) -> String {
        let name = _typeName(`class`, qualified: true)
        let isFoundation = FoundationClasses.isFoundation(name)
        // The names of private and local classes hold addresses, which differ from run to run.
        let parts = name.split(separator: ".").filter { !$0.hasPrefix("(") }
        return (isFoundation ? parts.dropFirst() : parts[...]).joined(separator: ".")
    }

    /// The name after its module.
    static func withoutModule(_ name: String) -> String {
        guard let dot = name.firstIndex(of: ".") else { return name }
        return String(name[name.index(after: dot)...])
    }
}
