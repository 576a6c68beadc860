/// One part of the codec, and what has to hold of it for every input.
///
/// All parts get all inputs: an input is only bytes, so that a file that was found is at once one
/// that every other tool opens. A part is added by a file of its own in `Parts`, and its name below.
public struct Part: Sendable {
    /// What became of an input.
    public enum Outcome: Sendable {
        /// It was refused with a proper error.
        case refused
        /// It was taken, and all that has to hold does.
        case accepted
    }

    /// All parts there are.
    public static let all = [
        propertyList, archive, scalars, sameness, json, paths, decoder, objects, inspection,
    ]

    /// The part's name, for messages.
    public let name: String
    private let body: @Sendable ([UInt8]) throws -> Outcome

    init(_ name: String, _ body: @escaping @Sendable ([UInt8]) throws -> Outcome) {
        self.name = name
        self.body = body
    }

    /// Tries an input.
    ///
    /// - Throws: ``Violation`` if a promise is broken. An error that the codec should not have
    ///   thrown comes as it is.
    public func check(_ input: [UInt8]) throws -> Outcome {
        try body(input)
    }
}

extension Part: CustomStringConvertible {
    /// The part's name.
    public var description: String { name }
}
