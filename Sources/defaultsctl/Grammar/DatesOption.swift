import ArgumentParser

/// How dates are spelled in values that are printed as JSON.
struct DatesOption: ParsableArguments {
    @Flag(
        help: """
            Print the dates in JSON in ISO 8601, in UTC, such as "2024-02-29T12:00:01Z", and not as \
            seconds since 2001; 'write --json', 'apply' and 'import' take both.
            """)
    var isoDates = false

    /// Refuses the option if no JSON is printed.
    ///
    /// - Parameter option: What prints JSON.
    func validate(isJSON: Bool, by option: String = "--json") throws {
        guard !isoDates || isJSON else {
            throw ValidationError("--iso-dates is for dates in JSON; give \(option) too.")
        }
    }
}
