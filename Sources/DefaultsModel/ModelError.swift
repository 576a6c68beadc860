/// A name that breaks the rules.
public struct ModelError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Which rule it breaks.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name, as in the source.
        public let description: String

        /// The text is no domain.
        public static let invalidDomain = Code(description: "invalidDomain")
        /// The text is no key.
        public static let invalidKey = Code(description: "invalidKey")
        /// The parts of a transaction contradict each other, or its token is none.
        public static let invalidTransaction = Code(description: "invalidTransaction")
    }

    /// Which rule it breaks.
    public let code: Code
    /// The byte at which it breaks it, counted from 0.
    public let offset: Int
    /// The whole of it in a sentence or two.
    public let description: String
}
