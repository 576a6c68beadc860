/// What an interface is, declared once: the calls of its methods, the checks of their arguments,
/// the properties and the description that others ask for all follow from it.
///
/// ```swift
/// let clock = Interface(
///     "org.example.Clock",
///     methods: [
///         Method("TimeIn", in: [Argument("zone", "s")], out: [Argument("seconds", "x")]) { call in
///             let zone = try call.arguments { try $0.readString() }
///             let seconds = try clock(in: zone)
///             try call.reply { try $0.writeInt64(seconds) }
///         }
///     ],
///     signals: [SignalDeclaration("Ticked", [Argument("seconds", "x")])],
///     properties: [Property("Zone", "s", emitsChanged: .value) { .string(zone) }])
/// await connection.export([clock], at: "/org/example/Clock")
/// ```
package struct Interface: Sendable {
    /// The interface's name.
    package let name: InterfaceName
    /// What can be called, in the order of the description.
    package let methods: [Method]
    /// What is sent out.
    package let signals: [SignalDeclaration]
    /// What can be asked for.
    package let properties: [Property]

    /// Declares an interface.
    package init(
        _ name: InterfaceName, methods: [Method] = [], signals: [SignalDeclaration] = [],
        properties: [Property] = []
    ) {
        self.name = name
        self.methods = methods
        self.signals = signals
        self.properties = properties
    }
}

/// One argument of a method or a signal.
package struct Argument: Sendable {
    /// The name in the description; it does not travel.
    package let name: String
    /// The one complete type.
    package let type: Signature
    /// What tools are told about it.
    package let annotations: [Annotation]

    /// Declares an argument.
    package init(_ name: String, _ type: Signature, annotations: [Annotation] = []) {
        precondition(type.isSingleType, "An argument has one complete type, not '\(type)'.")
        self.name = name
        self.type = type
        self.annotations = annotations
    }
}

/// A remark in the description of an interface, by a name that tools know.
package struct Annotation: Sendable, Hashable {
    /// The name, written like an interface's.
    package let name: String
    /// The value, which many tools expect to be `true`.
    package let value: String

    /// Makes a remark.
    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// A method of an interface, with what carries it out.
package struct Method: Sendable {
    /// The method's name.
    package let name: MemberName
    /// What a caller gives.
    package let input: [Argument]
    /// What the reply holds.
    package let output: [Argument]
    /// What tools are told about it.
    package let annotations: [Annotation]

    let inputSignature: Signature
    let outputSignature: Signature
    let handler: @Sendable (sending MethodCall) throws -> Void

    /// Declares a method.
    ///
    /// - Parameters:
    ///   - input: What a caller gives. A call with other types is refused before the handler.
    ///   - output: What the reply holds.
    ///   - handler: Carries out a call, on the loop's thread. It replies at once, or keeps the call
    ///     and replies later. If it throws, the caller gets that error.
    package init(
        _ name: MemberName, in input: [Argument] = [], out output: [Argument] = [],
        annotations: [Annotation] = [],
        handler: @escaping @Sendable (sending MethodCall) throws -> Void
    ) {
        self.name = name
        self.input = input
        self.output = output
        self.annotations = annotations
        self.handler = handler
        inputSignature = Signature(joining: input)
        outputSignature = Signature(joining: output)
    }
}

/// A signal of an interface.
package struct SignalDeclaration: Sendable {
    /// The signal's name.
    package let name: MemberName
    /// What it carries.
    package let arguments: [Argument]
    /// What tools are told about it.
    package let annotations: [Annotation]

    let signature: Signature

    /// Declares a signal.
    package init(
        _ name: MemberName, _ arguments: [Argument] = [], annotations: [Annotation] = []
    ) {
        self.name = name
        self.arguments = arguments
        self.annotations = annotations
        signature = Signature(joining: arguments)
    }
}

/// A property of an interface, which others can read.
package struct Property: Sendable {
    /// What others are told when the value changes.
    ///
    /// The raw value is that of the annotation `org.freedesktop.DBus.Property.EmitsChangedSignal`.
    package enum ChangeNotice: String, Sendable {
        /// The new value.
        case value = "true"
        /// That it changed, not to what.
        case invalidation = "invalidates"
        /// Nothing: it never changes.
        case constant = "const"
        /// Nothing, though it changes.
        case none = "false"
    }

    /// The property's name.
    package let name: MemberName
    /// The one complete type.
    package let type: Signature
    /// What others are told when the value changes.
    package let emitsChanged: ChangeNotice
    /// What tools are told about it.
    package let annotations: [Annotation]

    let get: @Sendable () throws -> Value

    /// Declares a property.
    ///
    /// - Parameter get: Gives the value, on the loop's thread; one of another type is a mistake in
    ///   the program, and traps.
    package init(
        _ name: MemberName, _ type: Signature, emitsChanged: ChangeNotice = .value,
        annotations: [Annotation] = [], get: @escaping @Sendable () throws -> Value
    ) {
        precondition(type.isSingleType, "A property has one complete type, not '\(type)'.")
        self.name = name
        self.type = type
        self.emitsChanged = emitsChanged
        self.annotations = annotations
        self.get = get
    }

    /// The value, of the declared type.
    func value() throws -> Value {
        let value = try get()
        let given = try value.type
        precondition(
            given == type, "The property \(name) is declared '\(type)' and gave '\(given)'.")
        return value
    }
}

extension Signature {
    /// The types of arguments, which an interface declares and the program spells out.
    fileprivate init(joining arguments: [Argument]) {
        self.init(stringLiteral: arguments.map(\.type.string).joined())
    }
}
