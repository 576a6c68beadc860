/// Something that has to hold for every input, and does not: a bug of ours.
public struct Violation: Error, CustomStringConvertible {
    /// What does not hold.
    public let description: String
}

/// Says what is wrong where `condition` does not hold.
func require(_ condition: Bool, _ sentence: @autoclosure () -> String) throws(Violation) {
    if !condition { throw Violation(description: sentence()) }
}
