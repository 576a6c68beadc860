import DefaultsClient
import DefaultsFoundation
import Foundation
import KeyedArchive

/// Somebody's account.
struct Account: Codable, Hashable {
    var username: String
}

extension AnyDefaultsKey {
    /// The accounts by their names; there are none at the first start.
    static let accounts = DefaultsKey<[String: Account]>(
        "Accounts", coding: .accounts, default: { [:] })
}

extension ValueCoding where Value == [String: Account] {
    /// A dictionary of objects.
    ///
    /// The first version of the program had a list, in which an account is called like its user. Both
    /// are also read from data: UserDefaults took objects only as data with an archive in it.
    static let accounts = ValueCoding(
        encode: { try KeyedArchiveEncoder().encode($0) },
        decode: { archive in
            let decoder = KeyedArchiveDecoder()
            let data = try? decoder.decode(Data.self, from: archive)
            let archive = try data.map { try KeyedArchive(validating: $0) } ?? archive
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
