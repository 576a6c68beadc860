import DefaultsClient
import DefaultsFoundation
import ExampleSupport
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
    /// The first version of the program had a list, in which an account is called like its user. In its
    /// file, they are the entry `accounts` of a dictionary. All of these are also read from data:
    /// UserDefaults took objects only as data with an archive in it.
    static let accounts = ValueCoding(
        encode: { try KeyedArchiveEncoder().encode($0) },
        decode: { archive in
            let data = try? KeyedArchiveDecoder().decode(Data.self, from: archive)
            let archive = try data.map { try KeyedArchive(validating: $0) } ?? archive
            do {
                return try accounts(in: archive)
            } catch {
                guard let entry = try? archive.entries()[fileEntry] else { throw error }
                return try accounts(in: entry)
            }
        })

    private static let fileEntry = "accounts"

    private static func accounts(in archive: KeyedArchive) throws -> [String: Account] {
        let decoder = KeyedArchiveDecoder()
        do {
            return try decoder.decode([String: Account].self, from: archive)
        } catch {
            guard let list = try? decoder.decode([Account].self, from: archive) else { throw error }
            return Dictionary(list.map { ($0.username, $0) }, uniquingKeysWith: { $1 })
        }
    }

    /// The archive of the file `data.bin`, as the first version of the program wrote it.
    static func file(of accounts: [String: Account]) throws -> KeyedArchive {
        let entries = try MutableCollection.dictionary(accounts.mapValues { try json(of: $0) })
        return try KeyedArchive(json: MutableCollection.dictionary([fileEntry: entries]))
    }
}
