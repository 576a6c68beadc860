/// A number of things, such as `1 key` and `2 keys`.
///
/// - Parameters:
///   - count: How many there are.
///   - noun: One of them.
///   - several: More of them, if that is not the noun with an s.
package func counted(
    _ count: some BinaryInteger, _ noun: String, _ several: String? = nil
) -> String {
    "\(count) \(count == 1 ? noun : several ?? "\(noun)s")"
}

/// A number of things with the verb that belongs to it, such as `1 key is` and `2 keys are`.
///
/// - Parameters:
///   - verb: What one of them does.
///   - others: What several do.
package func counted(
    _ count: some BinaryInteger, _ noun: String, verb: String, _ others: String
) -> String {
    "\(counted(count, noun)) \(agreeing(count, verb, others))"
}

/// The word that belongs to a number of things, such as `is` or `are`.
package func agreeing(_ count: some BinaryInteger, _ one: String, _ several: String) -> String {
    count == 1 ? one : several
}
