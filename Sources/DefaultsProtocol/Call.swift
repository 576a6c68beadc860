package import DBus

/// One method of the contract: its name and its arguments.
///
/// The daemon's introspection data is made from these.
package struct MethodDeclaration: Sendable {
    /// The interface of the method.
    package let interface: InterfaceName
    /// The member name, such as `Get`.
    package let name: MemberName
    /// The arguments that the caller sends.
    package let input: [Argument]
    /// The arguments that the reply returns.
    package let output: [Argument]
    /// The types of the reply.
    package let outputSignature: Signature

    init(
        _ name: MemberName, of interface: InterfaceName = Contract.interface,
        in input: [Argument] = [], out output: [Argument] = []
    ) {
        self.interface = interface
        self.name = name
        self.input = input
        self.output = output
        outputSignature = Signature(stringLiteral: output.map(\.type.string).joined())
    }
}

/// A call of the contract, declared once for both sides.
///
/// This protocol is the caller's side: it writes the arguments and reads the reply. For the
/// service, each call also has `readArguments` and `writeReply`. These two are not in the protocol
/// because their parameters differ: a large reply is written piece by piece, and names are checked
/// in the order in which they are read.
package protocol Call: Sendable {
    /// What the caller sends.
    associatedtype Arguments: Sendable = Void
    /// What the reply returns.
    associatedtype Reply: Sendable = Void

    /// The name and the arguments in both directions.
    static var method: MethodDeclaration { get }

    /// Writes the arguments.
    static func writeArguments(_ arguments: Arguments, to writer: inout MessageWriter) throws

    /// Reads the reply.
    static func readReply(from reader: inout MessageReader) throws -> Reply
}

/// Converts the names in a call, on the side that receives it.
///
/// Each name is passed on as soon as it is read. So a call is refused for the first error in it,
/// before its archives are copied.
package protocol NameReading: Sendable {
    /// A domain.
    associatedtype Domain: Sendable
    /// A key.
    associatedtype Key: Sendable

    /// Checks the name of a domain, with the suffix of its layer.
    func domain(_ text: String) throws -> Domain
    /// Checks a key.
    func key(_ text: String) throws -> Key
}

/// Names as plain text, for callers.
///
/// Only the service checks names.
package struct PlainNames: TransactionNames {
    package init() {}
    package func domain(_ text: String) -> String { text }
    package func key(_ text: String) -> String { text }
    package func token(_ text: String) -> String { text }

    package func expectation(_ key: String, _ generation: UInt64) -> (
        key: String, generation: UInt64
    ) {
        (key, generation)
    }
}

// MARK: Arguments that several calls share

extension Argument {
    static let domain = Argument("domain", "s")
    static let key = Argument("key", "s")
    static let value = Argument("value", "v")
    static let layer = Argument("layer", "s")
    static let generation = Argument("generation", "t")
    /// Without the annotation, GDBus would treat `ay` as a C string that ends at the first zero
    /// byte.
    static let archive = Argument(
        "archive", "ay", annotations: [Annotation("org.gtk.GDBus.C.ForceGVariant", "true")])
}

extension Call where Arguments == Void {
    package static func writeArguments(_ arguments: Void, to writer: inout MessageWriter) {}
}

/// A call with one argument, a domain.
package protocol DomainCall: Call where Arguments == String {}

extension DomainCall {
    package static func writeArguments(
        _ domain: String, to writer: inout MessageWriter
    ) throws {
        try writer.writeString(domain)
    }

    /// Reads the domain.
    package static func readArguments<Names: NameReading>(
        from reader: inout MessageReader, by names: Names
    ) throws -> Names.Domain {
        try names.domain(reader.readString())
    }
}

/// A call with two arguments, a domain and a key.
package protocol KeyCall: Call where Arguments == (domain: String, key: String) {}

extension KeyCall {
    package static func writeArguments(
        _ arguments: (domain: String, key: String), to writer: inout MessageWriter
    ) throws {
        try writer.writeString(arguments.domain)
        try writer.writeString(arguments.key)
    }

    /// Reads the domain and the key.
    package static func readArguments<Names: NameReading>(
        from reader: inout MessageReader, by names: Names
    ) throws -> (domain: Names.Domain, key: Names.Key) {
        (try names.domain(reader.readString()), try names.key(reader.readString()))
    }
}

// MARK: Replies that several calls share

extension Call where Reply == Void {
    package static func readReply(from reader: inout MessageReader) {}
}

/// A reply that is one generation: that of `Synchronize` and of every call that makes a change.
package enum GenerationReply {
    /// Writes the reply.
    package static func write(_ generation: UInt64, to writer: inout MessageWriter) throws {
        try writer.writeUInt64(generation)
    }

    fileprivate static func read(from reader: inout MessageReader) throws -> UInt64 {
        try reader.readUInt64()
    }
}

extension Call where Reply == UInt64 {
    package static func writeReply(_ number: UInt64, to writer: inout MessageWriter) throws {
        try GenerationReply.write(number, to: &writer)
    }

    package static func readReply(from reader: inout MessageReader) throws -> UInt64 {
        try GenerationReply.read(from: &reader)
    }
}

extension Call where Reply == Bool {
    package static func writeReply(_ flag: Bool, to writer: inout MessageWriter) throws {
        try writer.writeBool(flag)
    }

    package static func readReply(from reader: inout MessageReader) throws -> Bool {
        try reader.readBool()
    }
}

extension Call where Reply == String {
    package static func writeReply(_ text: String, to writer: inout MessageWriter) throws {
        try writer.writeString(text)
    }

    package static func readReply(from reader: inout MessageReader) throws -> String {
        try reader.readString()
    }
}

extension Call where Reply == [String] {
    package static func writeReply(_ names: [String], to writer: inout MessageWriter) throws {
        try writer.writeStrings(names)
    }

    package static func readReply(from reader: inout MessageReader) throws -> [String] {
        try reader.readStrings()
    }
}
