import DefaultsClient
import KeyedArchive
extension ValueDigest {
    package init(of archive: [UInt8]?) {
        var h = ContentHash(archive == nil ? 0 : 1)
        h.combine(archive ?? [])
        bytes = Array(repeating: 0, count: 24) + withUnsafeBytes(of: h.value) { Array($0) }
    }
}
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
