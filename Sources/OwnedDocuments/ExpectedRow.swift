/// What a row says if its owner has made a key what it is.
package struct ExpectedRow: Sendable {
    package let name: RowName
    package let place: KeyPlace
    let applied: ValueChecksum?
    let isOnce: Bool

    /// Whether a stored row says it.
    ///
    /// - Parameter row: The bytes of its archive.
    /// - Returns: False also if only decoding would tell.
    package func isSaid(by row: [UInt8]) -> Bool {
        AppliedRow.isSaid(applied, once: isOnce, by: row)
    }
}
