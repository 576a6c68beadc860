/// The rule that a kind of name follows.
///
/// All kinds are elements of `[A-Za-z0-9_]` with a separator between them. They differ in the
/// prefix, in the number of elements, and in what an element may contain and begin with.
struct NameGrammar: Sendable {
    /// What an error calls it.
    let kind: String
    var prefix = ""
    var separator = UInt8(ascii: ".")
    var elements = 2...Int.max
    private var allowsHyphen = false
    private var allowsLeadingDigit = false
    var maximumLength = 255

    static let bus = NameGrammar(kind: "a bus name", allowsHyphen: true)
    static let uniqueBus = NameGrammar(
        kind: "a bus name", prefix: ":", allowsHyphen: true, allowsLeadingDigit: true)
    static let interface = NameGrammar(kind: "an interface name")
    static let error = NameGrammar(kind: "an error name")
    static let member = NameGrammar(kind: "a member name", elements: 1...1)
    // The specification sets no limit to a path.
    static let path = NameGrammar(
        kind: "an object path", prefix: "/", separator: UInt8(ascii: "/"), elements: 1...Int.max,
        allowsLeadingDigit: true, maximumLength: .max)

    /// Gives the string back if it follows the rule.
    func check(_ string: some StringProtocol) throws(DBusError) -> String {
        if let problem = problem(in: string.utf8) {
            throw .badName(String(string), kind: kind, because: problem)
        }
        return String(string)
    }

    private func problem(in name: some Collection<UInt8>) -> String? {
        guard name.starts(with: prefix.utf8) else { return "it does not begin with '\(prefix)'" }
        guard name.count <= maximumLength else { return "it is longer than \(maximumLength) bytes" }
        return problem(inElements: name.dropFirst(prefix.utf8.count))
    }

    private func problem(inElements name: some Collection<UInt8>) -> String? {
        let parts = name.split(separator: separator, omittingEmptySubsequences: false)
        guard parts.count >= elements.lowerBound else { return "it has no '.'" }
        guard parts.count <= elements.upperBound else { return "it has a '.'" }
        for part in parts {
            if let problem = problem(inElement: part) { return problem }
        }
        return nil
    }

    private func problem(inElement element: some Collection<UInt8>) -> String? {
        guard let first = element.first else { return "an element of it is empty" }
        if Self.isDigit(first) && !allowsLeadingDigit {
            return "an element of it begins with a digit"
        }
        guard element.allSatisfy(allows) else {
            return
                "it holds a character other than A-Z, a-z, 0-9\(allowsHyphen ? ", - " : " ")and _"
        }
        return nil
    }

    private func allows(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "_"):
            true
        case UInt8(ascii: "-"): allowsHyphen
        default: Self.isDigit(byte)
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}

/// A string that follows one of the naming rules of D-Bus.
///
/// ```swift
/// let interface: InterfaceName = "org.example.Interface"
/// let given = try MemberName(CommandLine.arguments[1])
/// ```
///
/// A literal that breaks the rule is a mistake in the program and traps.
package protocol DBusName:
    Hashable, Comparable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral
{
    /// The name as it travels.
    var string: String { get }

    /// Checks a string against the rule of this kind of name.
    ///
    /// - Throws: ``DBusError`` of the name `InvalidArgs` that quotes the string and says what is
    ///   wrong with it.
    init(_ string: some StringProtocol) throws(DBusError)
}

extension DBusName {
    /// The name as it travels.
    package var description: String { string }

    /// Takes a name that the program itself spells out.
    package init(stringLiteral literal: String) {
        do {
            try self.init(literal)
        } catch {
            preconditionFailure("A literal name breaks its rule. \(error.message)")
        }
    }

    /// Orders names by their characters.
    package static func < (first: Self, second: Self) -> Bool {
        first.string < second.string
    }
}

/// A name on the bus: a unique one, given by the bus (`:1.42`), or a well-known one, requested by
/// its owner (`org.example.Service`).
///
/// See the [specification][1].
///
/// [1]: https://dbus.freedesktop.org/doc/dbus-specification.html#message-protocol-names-bus
package struct BusName: DBusName {
    /// The name as it travels.
    package let string: String

    /// Checks a string against the rule of this kind of name.
    ///
    /// - Throws: ``DBusError`` of the name `InvalidArgs` that quotes the string and says what is
    ///   wrong with it.
    package init(_ string: some StringProtocol) throws(DBusError) {
        let grammar = string.hasPrefix(":") ? NameGrammar.uniqueBus : .bus
        try self.init(checked: grammar.check(string))
    }

    /// Takes a string that is known to follow the rule: it was checked, or libdbus did.
    init(checked string: String) {
        self.string = string
    }

    /// Whether the bus gave it to a connection, rather than a service having asked for it.
    ///
    /// A unique name belongs to one connection for good; it is not handed out again.
    package var isUnique: Bool { string.utf8.first == UInt8(ascii: ":") }

    /// The bus itself.
    package static let bus: BusName = "org.freedesktop.DBus"
}

/// The name of an interface: two elements or more, `org.example.Interface`.
///
/// See the [specification][1].
///
/// [1]: https://dbus.freedesktop.org/doc/dbus-specification.html#message-protocol-names-interface
package struct InterfaceName: DBusName {
    /// The name as it travels.
    package let string: String

    /// Checks a string against the rule of this kind of name.
    ///
    /// - Throws: ``DBusError`` of the name `InvalidArgs` that quotes the string and says what is
    ///   wrong with it.
    package init(_ string: some StringProtocol) throws(DBusError) {
        try self.init(checked: NameGrammar.interface.check(string))
    }

    /// Takes a string that is known to follow the rule: it was checked, or libdbus did.
    init(checked string: String) {
        self.string = string
    }
}

/// The name of a method, a signal or a property: one element, `GetAll`.
///
/// See the [specification][1].
///
/// [1]: https://dbus.freedesktop.org/doc/dbus-specification.html#message-protocol-names-member
package struct MemberName: DBusName {
    /// The name as it travels.
    package let string: String

    /// Checks a string against the rule of this kind of name.
    ///
    /// - Throws: ``DBusError`` of the name `InvalidArgs` that quotes the string and says what is
    ///   wrong with it.
    package init(_ string: some StringProtocol) throws(DBusError) {
        try self.init(checked: NameGrammar.member.check(string))
    }

    /// Takes a string that is known to follow the rule: it was checked, or libdbus did.
    init(checked string: String) {
        self.string = string
    }
}

/// The path of an object: `/`, or elements each with a slash before it,
/// `/org/example/Object`.
///
/// See the [specification][1].
///
/// [1]: https://dbus.freedesktop.org/doc/dbus-specification.html#message-protocol-marshaling-object-path
package struct ObjectPath: DBusName {
    /// The path as it travels.
    package let string: String

    /// Checks a string against the rule of object paths.
    ///
    /// - Throws: ``DBusError`` of the name `InvalidArgs` that quotes the string and says what is
    ///   wrong with it.
    package init(_ string: some StringProtocol) throws(DBusError) {
        // The root is the only path whose one element is empty.
        try self.init(checked: string == "/" ? "/" : NameGrammar.path.check(string))
    }

    /// Takes a string that is known to follow the rule: it was checked, or libdbus did.
    init(checked string: String) {
        self.string = string
    }

    /// The paths above this one, the nearest first, the root last.
    var ancestors: [ObjectPath] {
        var ancestors: [ObjectPath] = []
        var rest = string[...]
        while rest.utf8.count > 1, let slash = rest.utf8.lastIndex(of: UInt8(ascii: "/")) {
            rest = rest[..<slash]
            ancestors.append(ObjectPath(checked: rest.isEmpty ? "/" : String(rest)))
        }
        return ancestors
    }

    /// The name of the element that follows this path on the way down to another, or nil if
    /// the other is not below.
    func child(towards descendant: ObjectPath) -> Substring? {
        let base = string == "/" ? "/" : string + "/"
        guard descendant.string.utf8.count > base.utf8.count, descendant.string.hasPrefix(base)
        else { return nil }
        return descendant.string.dropFirst(base.count).prefix { $0 != "/" }
    }
}

/// The name of an error, by the rule of interface names: `org.example.Error.NotFound`.
///
/// See the [specification][1].
///
/// [1]: https://dbus.freedesktop.org/doc/dbus-specification.html#message-protocol-names-error
package struct ErrorName: DBusName {
    /// The name as it travels.
    package let string: String

    /// Checks a string against the rule of this kind of name.
    ///
    /// - Throws: ``DBusError`` of the name `InvalidArgs` that quotes the string and says what is
    ///   wrong with it.
    package init(_ string: some StringProtocol) throws(DBusError) {
        try self.init(checked: NameGrammar.error.check(string))
    }

    /// Takes a string that is known to follow the rule: it was checked, or libdbus did.
    init(checked string: String) {
        self.string = string
    }
}

/// The names that the bus itself and every peer use.
extension ErrorName {
    /// Something failed and no other name fits.
    package static let failed: ErrorName = "org.freedesktop.DBus.Error.Failed"
    /// There is no memory for it.
    package static let noMemory: ErrorName = "org.freedesktop.DBus.Error.NoMemory"
    /// Nobody owns the name, and nobody can be started for it.
    package static let serviceUnknown: ErrorName = "org.freedesktop.DBus.Error.ServiceUnknown"
    /// A unique name that has left the bus, or a name without an owner.
    package static let nameHasNoOwner: ErrorName = "org.freedesktop.DBus.Error.NameHasNoOwner"
    /// The one who was called has left before it answered.
    package static let noReply: ErrorName = "org.freedesktop.DBus.Error.NoReply"
    /// We waited in vain for the reply of the peer.
    package static let timeout: ErrorName = "org.freedesktop.DBus.Error.Timeout"
    /// The connection to the bus is gone.
    package static let disconnected: ErrorName = "org.freedesktop.DBus.Error.Disconnected"
    /// Reading or writing failed, or a resource of the system ran out.
    package static let ioError: ErrorName = "org.freedesktop.DBus.Error.IOError"
    /// A quota or a size of the protocol is exceeded.
    package static let limitsExceeded: ErrorName = "org.freedesktop.DBus.Error.LimitsExceeded"
    /// The arguments are of the wrong types, or say something impossible.
    package static let invalidArguments: ErrorName = "org.freedesktop.DBus.Error.InvalidArgs"
    /// A signature is not one.
    package static let invalidSignature: ErrorName = "org.freedesktop.DBus.Error.InvalidSignature"
    /// The interface has no such method.
    package static let unknownMethod: ErrorName = "org.freedesktop.DBus.Error.UnknownMethod"
    /// There is no object at the path.
    package static let unknownObject: ErrorName = "org.freedesktop.DBus.Error.UnknownObject"
    /// The object has no such interface.
    package static let unknownInterface: ErrorName = "org.freedesktop.DBus.Error.UnknownInterface"
    /// The interface has no such property.
    package static let unknownProperty: ErrorName = "org.freedesktop.DBus.Error.UnknownProperty"
    /// The property cannot be set.
    package static let propertyReadOnly: ErrorName = "org.freedesktop.DBus.Error.PropertyReadOnly"
}
