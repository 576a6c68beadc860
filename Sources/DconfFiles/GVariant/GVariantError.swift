package import DefaultsProtocol
internal import DefaultsTerms

/// Why bytes are not a value in GVariant's form, or why a value cannot be written in it.
///
/// The description is a sentence, and never contains a value.
package enum GVariantError: Error, Hashable, Sendable {
    /// A value does not have the size that its type requires.
    case size(ExactType, at: Int)
    /// A byte between two values is not zero.
    case padding(at: Int)
    /// A boolean is neither 0 nor 1.
    case boolean(at: Int)
    /// A text does not end with NUL, contains another NUL, is not UTF-8, or does not follow the rule
    /// of object paths or of signatures.
    case text(ExactType, at: Int)
    /// The offsets of a container's parts are out of order, or out of its bounds.
    case offsets(ExactType, at: Int)
    /// A variant does not end with a type that defaultsd has.
    case variantType(at: Int)
    /// Too many containers are inside each other.
    case depth
    /// Too many values are inside the value.
    case count
    /// The value has too many bytes.
    case length(Int)
    /// A value to be written does not fit its type.
    case mismatch(ExactType)
}

extension GVariantError: CustomStringConvertible {
    /// A sentence that says what is wrong.
    package var description: String {
        switch self {
        case .size(let type, let offset):
            "The value of type '\(type)' at byte \(offset) has a wrong size."
        case .padding(let offset): "The padding at byte \(offset) is not zero."
        case .boolean(let offset): "The boolean at byte \(offset) is neither 0 nor 1."
        case .text(let type, let offset):
            "The text at byte \(offset) is not a valid value of type '\(type)'."
        case .offsets(let type, let offset):
            "The value of type '\(type)' at byte \(offset) has wrong offsets."
        case .variantType(let offset): "The variant at byte \(offset) has no valid type."
        case .depth:
            "The value is nested deeper than \(GVariantLimits.maximumVariantDepth) variants or "
                + "\(GVariantLimits.maximumDepth) containers."
        case .count: "The value has more than \(ContractLimits.maximumValueCount) values in it."
        case .length(let count):
            "The value has \(count) bytes; the limit is \(ContractLimits.maximumValueSize)."
        case .mismatch(let type): "A value does not fit its type '\(type)'."
        }
    }
}
