import DefaultsTerms

/// How much a call may make of archives while it turns them into values, so that a few bytes which
/// stand for millions of values keep nobody waiting.
package struct ValueBudget: Hashable, Sendable {
    /// How many values, counted with those inside them.
    package internal(set) var values: Int
    /// How many bytes of a message.
    package internal(set) var bytes: Int

    /// For one archive: as many values as one call may bring, and what fits into a reply.
    package static let archive = ValueBudget(
        values: ContractLimits.maximumValueCount, bytes: ContractLimits.maximumReplySize)

    /// For a domain: four times the values, and twice the bytes, for what turns out not to fit.
    package static let domain = ValueBudget(
        values: 4 * archive.values, bytes: 2 * archive.bytes)

    /// Whether nothing is left.
    package var isSpent: Bool { values <= 0 || bytes <= 0 }
}
