import DefaultsClient
import ExampleSupport

// Accounts by their names: a dictionary of objects, loaded at the start and saved with each change.

let usage = """
    usage: Accounts                     lists the accounts
           Accounts add NAME USERNAME   adds or replaces one
           Accounts remove NAME         removes one
           Accounts load FILE           replaces all by those of a file, such as data.bin
           Accounts save FILE           writes all of them into a file
    """

await runProgram(usage: usage) { words in
    // Names are free text, and not options such as `-Accounts VALUE`.
    let defaults = Defaults(domain: "org.example.Accounts", arguments: [])
    @MainActor func book() throws -> AccountBook { try AccountBook(in: defaults) }
    switch (words.first, words.count) {
    case (nil, _):
        for (name, account) in try book().accounts.sorted(by: { $0.key < $1.key }) {
            print("\(name): \(account.username)")
        }
    case ("add", 3): try await book().add(words[1], username: words[2])
    case ("remove", 2): try await book().remove(words[1])
    case ("load", 2): try await book().load(from: words[1])
    case ("save", 2): try book().save(to: words[1])
    default: throw WrongUsage()
    }
}
