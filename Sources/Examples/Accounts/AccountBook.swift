import DefaultsClient
import DefaultsFoundation
import ExampleSupport
import Foundation

/// The accounts of a user: loaded at the start, saved with each change.
@MainActor final class AccountBook {
    private let defaults: Defaults
    private(set) var accounts: [String: Account]

    /// Loads the accounts.
    ///
    /// - Throws: Why what is stored cannot be read. `defaults[.accounts]` would be empty then, as if
    ///   there were no accounts.
    init(in defaults: Defaults) throws {
        try defaults.requireService()
        self.defaults = defaults
        accounts = try defaults.value(of: .accounts)
    }

    /// Adds an account, or replaces the one of this name.
    func add(_ name: String, username: String) async throws {
        let name = name.trimmingCharacters(in: .whitespacesAndNewlines)
        let username = username.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !name.isEmpty else { throw Refusal("The name is empty. Enter a name.") }
        guard !username.isEmpty else {
            throw Refusal("The username of \"\(name)\" is empty. Enter a username.")
        }
        accounts = try await defaults.update(.accounts) {
            $0[name] = Account(username: username)
        }
    }

    /// Removes the account of this name.
    func remove(_ name: String) async throws {
        accounts = try await defaults.update(.accounts) { accounts in
            guard accounts.removeValue(forKey: name) != nil else {
                throw Refusal(
                    "There is no account \"\(name)\". `Accounts` lists the accounts.")
            }
        }
    }

    /// Replaces all accounts by those of a file.
    ///
    /// If the file cannot be read, or has none, the accounts stay.
    func load(from path: String) async throws {
        let loaded = try ExampleSupport.load(
            "a dictionary or a list of accounts", from: path, ValueCoding.accounts.decode)
        guard !loaded.isEmpty else { throw nothing(of: "accounts", in: path) }
        accounts = try await defaults.update(.accounts) { $0 = loaded }
    }

    /// Writes all accounts into a file.
    func save(to path: String) throws {
        try write(ValueCoding.file(of: accounts).data, to: path)
    }
}
