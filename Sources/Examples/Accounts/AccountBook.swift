import DefaultsClient
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
}
