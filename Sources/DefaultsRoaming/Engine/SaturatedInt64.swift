/// Arithmetic on numbers that anybody may have written.
extension Int64 {
    /// The sum, or the nearest number if it does not fit.
    package func addingSaturated(_ other: Int64) -> Int64 {
        let (sum, isTooFar) = addingReportingOverflow(other)
        return isTooFar ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, or the nearest number if it does not fit.
    package func subtractingSaturated(_ other: Int64) -> Int64 {
        let (difference, isTooFar) = subtractingReportingOverflow(other)
        return isTooFar ? (other < 0 ? .max : .min) : difference
    }
}
