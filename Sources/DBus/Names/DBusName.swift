/// A string that follows one of the naming rules of D-Bus.
///
/// ```swift
/// let interface: InterfaceName = "org.example.Interface"
/// let given = try MemberName(CommandLine.arguments[1])
/// ```
///
/// A literal that breaks the rule is a mistake in the program and traps.
public protocol DBusName:
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
    public var description: String { string }

    /// Takes a name that the program itself spells out.
    public init(stringLiteral literal: String) {
        do {
            try self.init(literal)
        } catch {
            preconditionFailure("A literal name breaks its rule. \(error.message)")
        }
    }

    /// Orders names by their characters.
    public static func < (first: Self, second: Self) -> Bool {
        first.string < second.string
    }
}
