import DefaultsClient

// Accounts by their names: a dictionary of objects, loaded at the start and saved on each change.
//
//     Accounts                       lists them
//     Accounts add work ada          adds or replaces one
//     Accounts remove work           removes one

/// Somebody's account.
struct Account: Codable, Hashable {
    var username: String
}

extension DefaultsKeys {
    /// There are none at the first start.
    static let accounts = DefaultsKey<[String: Account]>("Accounts", default: [:])
}

/// What the program works with.
///
/// A change of the dictionary is saved when it is made, and what was not sent when the program ends is
/// sent then.
struct AccountBook {
    @Default(.accounts) var accounts
}

Defaults.standard = Defaults(domain: "org.example.Accounts")
let book = AccountBook()
let words = Array(CommandLine.arguments.dropFirst())

switch (words.first, words.count) {
case (nil, _):
    for (name, account) in book.accounts.sorted(by: { $0.key < $1.key }) {
        print("\(name): \(account.username)")
    }
case ("add", 3):
    book.accounts[words[1]] = Account(username: words[2])
case ("remove", 2):
    book.accounts[words[1]] = nil
default:
    print("usage: Accounts [add NAME USERNAME | remove NAME]")
}
