import DefaultsClient
import KeyedArchive
extension DefaultsTransaction {
    var unchangedSince: UInt64? {
        get { nil }
        set {}
    }
}
extension DefaultsError { var lockedKeys: [(domain: String, key: String)] { [] } }
extension Roamer {
    func isRecordWhole(since: UInt64, of domain: String) async throws -> Bool {
        try await defaults.difference(of: domain, since: since).isComplete
    }
    func times(of keys: some Sequence<String>, in domain: String, since: UInt64?) async throws
        -> [String: Int64]
    { [:] }
}
