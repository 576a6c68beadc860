import DefaultsClient
import KeyedArchive

/// Somebody's account.
struct Account: Codable, Hashable {
    var username: String
}

extension DefaultsKeys {
    /// The accounts by their names; there are none at the first start.
    static let accounts = DefaultsKey<[String: Account]>(
        "Accounts", coding: .accounts, default: { [:] })
}

extension ValueCoding where Value == [String: Account] {
    /// A dictionary of objects.
    ///
    /// The first version of the program had a list. It is read too: an account is called like its
    /// user then.
    static let accounts = ValueCoding(
        encode: { try KeyedArchiveEncoder().encode($0) },
        decode: { archive in
            let decoder = KeyedArchiveDecoder()
            do {
                return try decoder.decode([String: Account].self, from: archive)
            } catch {
                guard let list = try? decoder.decode([Account].self, from: archive) else {
                    throw error
                }
                return Dictionary(list.map { ($0.username, $0) }, uniquingKeysWith: { $1 })
            }
        })
}
