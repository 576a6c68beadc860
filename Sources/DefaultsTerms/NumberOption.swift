/// What can be set about a part of the service: the keys of one domain, with whole numbers.
///
/// They are settings as all others. So an administrator's value is above the user's, and can lock it. Such a
/// table is the only home of its options: what reads them, and the text of `Documentation/administration.md`,
/// are compared with it.
package protocol NumberOption: RawRepresentable<String>, CaseIterable, Hashable, Sendable {
    /// The domain whose keys they are.
    static var domain: String { get }
    /// The value without a setting.
    var standard: Int { get }
    /// The least and the largest value.
    var bounds: ClosedRange<Int> { get }
}
