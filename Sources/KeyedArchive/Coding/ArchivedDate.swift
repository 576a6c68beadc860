/// A date for modules without Foundation.
///
/// In archives it is the same NSDate as Foundation's `Date`.
package struct ArchivedDate: Codable {
    package var secondsSince2001: Double

    package init(secondsSince2001: Double) {
        self.secondsSince2001 = secondsSince2001
    }

    package init(from decoder: any Decoder) throws {
        secondsSince2001 = try decoder.singleValueContainer().decode(Double.self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(secondsSince2001)
    }
}
