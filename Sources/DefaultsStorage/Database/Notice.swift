/// Something that the log should tell though no caller waits for it.
public struct Notice: Hashable, Sendable, CustomStringConvertible {
    /// How much it matters.
    public enum Severity: Hashable, Sendable {
        /// Work that takes long goes on.
        case progress
        /// Worth a line.
        case information
        /// Something was lost, or may be.
        case warning
    }

    /// How much it matters.
    public let severity: Severity
    /// The whole of it in a sentence or two.
    ///
    /// It contains no value.
    public let description: String
}
