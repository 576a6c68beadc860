import DefaultsTerms

/// Limits what a call may make from archives while it converts them to values.
///
/// Without it, a few bytes that expand to millions of values could block other callers.
package struct ValueBudget: Hashable, Sendable {
    /// How many values are left.
    ///
    /// Nested values count, too.
    package internal(set) var values: Int
    /// How many bytes of a message are left.
    package internal(set) var bytes: Int

    /// For one archive: as many values as one call may send, and the size of a reply.
    package static let archive = ValueBudget(
        values: ContractLimits.maximumValueCount, bytes: ContractLimits.maximumReplySize)

    /// For a domain: four times the values and twice the bytes, because some of it may turn out not
    /// to fit.
    package static let domain = ValueBudget(
        values: 4 * archive.values, bytes: 2 * archive.bytes)

    /// Whether nothing is left.
    package var isSpent: Bool { values <= 0 || bytes <= 0 }
}
