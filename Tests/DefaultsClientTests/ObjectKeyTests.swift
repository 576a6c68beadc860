import DefaultsClient
import DefaultsFoundation
import Foundation
import KeyedArchive
import Testing

/// An object of NSSecureCoding that refers to others of its kind.
private final class Account: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }

    var username: String
    var friends: [Account] = []

    init(_ username: String, friends: [Account] = []) {
        self.username = username
        self.friends = friends
    }

    init?(coder: NSCoder) {
        guard let username = coder.decodeObject(of: NSString.self, forKey: "username") else {
            return nil
        }
        self.username = String(describing: username)
        let friends = coder.decodeObject(of: [NSArray.self, Account.self], forKey: "friends")
        self.friends = friends as? [Account] ?? []
    }

    func encode(with coder: NSCoder) {
        coder.encode(username, forKey: "username")
        coder.encode(friends, forKey: "friends")
    }
}

private final class Stranger: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }

    override init() {}

    init?(coder: NSCoder) {}

    func encode(with coder: NSCoder) {}
}

extension AnyDefaultsKey {
    fileprivate static let account = DefaultsKey<Account?>("Account", ofClass: Account.self)
    fileprivate static let guest = DefaultsKey("Guest", ofClass: Account.self) { Account("guest") }
    fileprivate static let accounts = DefaultsKey<NSArray?>(
        "Accounts", ofClass: NSArray.self, allowing: [Account.self])
    fileprivate static let stranger = DefaultsKey<Stranger?>("Account", ofClass: Stranger.self)
    fileprivate static let renamed: DefaultsKey<Account?> = {
        var options = ObjectCodingOptions()
        options.classNames.setName("User", for: Account.self)
        options.classNames.setClass(Account.self, forName: "User")
        return DefaultsKey("Renamed", ofClass: Account.self, options: options)
    }()
}

@Suite struct ObjectKeyTests {
    let defaults = Defaults.inMemory()

    @Test func `An object of NSSecureCoding is stored and read`() {
        #expect(defaults[.account] == nil)
        defaults[.account] = Account("ada", friends: [Account("bob")])
        #expect(defaults[.account]?.username == "ada")
        #expect(defaults[.account]?.friends.map(\.username) == ["bob"])
        defaults[.account] = nil
        #expect(!defaults.isSet(.account))
    }

    @Test func `Each read makes a new object, because objects can be changed`() {
        defaults[.account] = Account("ada")
        let account = defaults[.account]
        account?.username = "eve"
        #expect(defaults[.account]?.username == "ada")
        #expect(defaults[.guest] !== defaults[.guest])
    }

    @Test func `The stored value does not change with the object that was set`() {
        let account = Account("ada")
        defaults[.account] = account
        account.username = "eve"
        #expect(defaults[.account]?.username == "ada")
    }

    @Test func `The default object is made for each read`() {
        #expect(defaults[.guest].username == "guest")
        #expect(defaults.layer(of: .guest) == nil)
        defaults[.guest] = Account("ada")
        #expect(defaults[.guest].username == "ada")
    }

    @Test func `A collection contains objects of the allowed classes`() {
        defaults[.accounts] = [Account("ada"), Account("bob")] as NSArray
        let names = defaults[.accounts]?.compactMap { ($0 as? Account)?.username }
        #expect(names == ["ada", "bob"])
    }

    @Test func `A class has the name in the database that the options set`() throws {
        defaults[.renamed] = Account("ada")
        let text = try #require(try defaults.storedJSON(of: .renamed))
        #expect(text.hasPrefix(#"{"$class":"User","#))
        #expect(defaults[.renamed]?.username == "ada")
    }

    @Test func `An object of another class reads as the default, and the application learns of it`()
        async throws
    {
        defaults[.account] = Account("ada")
        var failures = defaults.failures.makeAsyncIterator()
        #expect(defaults[.stranger] == nil)
        let failure = try #require(await failures.next())
        #expect(failure.action == .read)
        #expect((failure.error.underlyingError as? ObjectCodingError)?.code == .classNotFound)
        #expect(throws: DefaultsError.self) { try defaults.value(of: .stranger) }
    }

    @Test func `Nil in the database is nil, and an error if an object is needed`() throws {
        let null = try KeyedArchive(json: "null")
        defaults[.raw(.account)] = null
        #expect(try defaults.value(of: .account) == nil)
        #expect(defaults.isSet(.account))
        defaults[.raw(.guest)] = null
        let error = #expect(throws: DefaultsError.self) { try defaults.value(of: .guest) }
        #expect((error?.underlyingError as? ObjectCodingError)?.code == .missingField)
        #expect(defaults[.guest].username == "guest")
    }

    @Test func `A class that sets its name is stored by it, and read by any of its names`()
        throws
    {
        let raw = DefaultsKey<KeyedArchive?>(
            "Named", coding: ValueCoding(encode: { $0 }, decode: { $0 }), default: { nil })
        let key = DefaultsKey<Named?>("Named", ofClass: Named.self, allowing: [NamedChild.self])
        defaults[key] = Named()
        let json = try #require(defaults[raw]).json()
        #expect(String(decoding: json, as: UTF8.self) == #"{"$class":"Shelf"}"#)
        for name in ["Shelf", "Named", "DefaultsClientTests.Named"] {
            defaults[raw] = try KeyedArchive(json: #"{"$class":"\#(name)"}"#)
            #expect(defaults[key] != nil, "\(name)")
        }
        // A subclass inherits the property, and is another class all the same.
        defaults[key] = NamedChild()
        #expect(defaults[key] is NamedChild)
    }
}

class Named: NSObject, NSSecureCoding, ArchiveNamed {
    static let archiveClassName = "Shelf"
    class var supportsSecureCoding: Bool { true }

    override init() {}

    required init?(coder: NSCoder) {}

    func encode(with coder: NSCoder) {}
}

final class NamedChild: Named {}
