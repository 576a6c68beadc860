import DefaultsClient
import DefaultsFoundation
import Foundation
import KeyedArchive
import PropertyList
import Testing

// The code of the pages of KeyedArchive, PropertyList and DefaultsFoundation.

struct Account: Codable, Hashable {
    var username: String
    var isAdmin: Bool
}

struct FormatTests {
    @Test func `a value is the one that its archive was made of`() throws {
        let archive = try KeyedArchiveEncoder().encode(Account(username: "ada", isAdmin: true))
        let account = try KeyedArchiveDecoder().decode(Account.self, from: archive)
        #expect(account == Account(username: "ada", isAdmin: true))
        print(String(decoding: try archive.json(), as: UTF8.self))
        check(archive.bytes)
    }

    @Test func `a missing field has the value of the default`() throws {
        struct Book: Codable, DefaultInitializable {
            var title = ""
            var isOwned = true  // since version 2
        }
        struct GameOptions: Codable {
            var playSound = true
            var playMusic = true  // since version 2
        }
        let decoder = KeyedArchiveDecoder()
        let archive = try KeyedArchive(json: #"{"playSound":false}"#)
        let options = try decoder.decode(
            GameOptions.self, from: archive, missingFieldsFrom: GameOptions())
        #expect(options.playMusic && !options.playSound)
        let book = try decoder.decode(Book.self, from: KeyedArchive(json: #"{"title":"Momo"}"#))
        #expect(book.isOwned)
    }

    private func check(_ bytes: [UInt8]) {
        do throws(ArchiveError) {
            let archive = try KeyedArchive(validating: bytes)
            use(archive)
        } catch {
            print("\(error.message), at byte \(error.byteOffset)")
        }
    }

    private func use(_ archive: KeyedArchive) {}

    @Test func `a list has the values that were written`() throws {
        var writer = PropertyListWriter()
        let name = writer.add(string: "ada")
        let lives = writer.add(integer: 3)
        let player = writer.add(array: [name, lives])
        let bytes = writer.finish(root: player)

        let list = try PropertyList(bytes)
        if case .array(let elements) = list.value(at: list.root) {
            print(elements.count)
        }
    }

    @Test func `an object is read from a file`() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        let archive = try KeyedArchive(archiving: StoredAccount(username: "ada"))
        try archive.data.write(to: file)

        let read = try KeyedArchive(validating: Data(contentsOf: file))
        let stored = try read.decodeObject(of: StoredAccount.self)
        #expect(stored?.username == "ada")
    }

    @Test func `an object is a value of the defaults`() {
        let defaults = Defaults.inMemory()
        defaults[.account] = StoredAccount(username: "ada")
        #expect(defaults[.account]?.username == "ada")
    }
}

func importUserDefaults() async throws {
    try await defaults.migrate([
        .importingUserDefaults(named: "org.example.Game", to: 1)
    ])
}

extension AnyDefaultsKey {
    static let hiddenRows = DefaultsKey("HiddenRows", default: IndexSet())
    static let selections = DefaultsKey<[IndexSet]>(
        "Selections", coding: .array(of: .checked()), default: { [] })
    static let title = DefaultsKey("Title", ofClass: NSAttributedString.self)
    static let note = DefaultsKey(
        "Note", ofClass: NSAttributedString.self, allowing: [StoredAccount.self])
    static let account = DefaultsKey("Account", ofClass: StoredAccount.self)
    static let accounts = DefaultsKey("Accounts", ofArrayOf: StoredAccount.self)
    static let accountsByName = DefaultsKey("AccountsByName", ofDictionaryOf: StoredAccount.self)
}

final class StoredAccount: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    let username: String

    init(username: String) {
        self.username = username
    }

    init?(coder: NSCoder) {
        guard let name = coder.decodeObject(of: NSString.self, forKey: "username") else {
            return nil
        }
        username = "\(name)"
    }

    func encode(with coder: NSCoder) {
        coder.encode(NSString(string: username), forKey: "username")
    }
}
