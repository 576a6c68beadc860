/// Something that has to hold for every input, and does not: a bug of ours.
public struct Violation: Error, CustomStringConvertible {
    /// What does not hold.
    public let description: String
}

/// Says what is wrong where `condition` does not hold.
func require(_ condition: Bool, _ sentence: @autoclosure () -> String) throws(Violation) {
    if !condition { throw Violation(description: sentence()) }
}

/// Says what is wrong where JSON that was read is shown as another value.
func requireSame(_ json: [UInt8], _ shown: [UInt8]) throws(Violation) {
    try require(
        json == shown,
        """
        What was shown is read as another value:
        \(String(decoding: json, as: UTF8.self))
        \(String(decoding: shown, as: UTF8.self))
        """)
}
