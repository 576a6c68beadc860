/// The number of a change: a counter of the whole database, strictly increasing.
///
/// It may jump, and it is never handed out twice. A new database begins at 1, so 0 is no
/// generation and is free to mean "none".
public struct Generation: RawRepresentable, Hashable, Comparable, Sendable,
    CustomStringConvertible
{
    /// The number.
    public let rawValue: UInt64

    /// Takes a number as a generation; nil for 0, which is none.
    public init?(rawValue: UInt64) {
        guard rawValue != 0 else { return nil }
        self.rawValue = rawValue
    }

    private init(unchecked rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// The generation of a new database.
    public static let first = Generation(unchecked: 1)

    /// The generation that many changes later.
    ///
    /// A counter at the end of its range is a bug of the caller, who checks what comes from a file
    /// against a bound far below it.
    public func advanced(by changes: UInt64) -> Generation {
        let (sum, overflow) = rawValue.addingReportingOverflow(changes)
        precondition(!overflow, "a generation was advanced past the end of 64 bits")
        return Generation(unchecked: sum)
    }

    /// Whether one change came before another.
    public static func < (earlier: Generation, later: Generation) -> Bool {
        earlier.rawValue < later.rawValue
    }

    /// The number in decimal digits.
    public var description: String { String(rawValue) }
}
