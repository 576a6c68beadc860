import DefaultsClient
import DefaultsFoundation
import Foundation
import KeyedArchive

// The code of the comments of DefaultsFoundation.

enum ObjectComments {
    final class Account: NSObject, NSSecureCoding {
        static var supportsSecureCoding: Bool { true }

        init(username: String) {}

        init?(coder: NSCoder) {}

        func encode(with coder: NSCoder) {}
    }

    final class Book: NSObject, NSSecureCoding, ArchiveNamed {
        static let archiveClassName = "Book"
        static var supportsSecureCoding: Bool { true }

        init?(coder: NSCoder) {}

        func encode(with coder: NSCoder) {}
    }

    final class Options: NSObject, NSSecureCoding {
        static var supportsSecureCoding: Bool { true }

        override init() {}

        init?(coder: NSCoder) {}

        func encode(with coder: NSCoder) {}
    }

    final class Node: NSObject, NSSecureCoding {
        static var supportsSecureCoding: Bool { true }
        private var child: Node?

        init?(coder: NSCoder) {
            super.init()
            coder.resolveReferences(to: self)
            child = coder.decodeObject(of: Node.self, forKey: "child")
        }

        func encode(with coder: NSCoder) {}
    }

    static let account = DefaultsKey("Account", ofClass: Account.self)
    static let options = DefaultsKey("Options", ofClass: Options.self) { Options() }

    static func name() -> ClassNames {
        var names = ClassNames()
        names.setClass(Account.self, forName: "LegacyAccount")  // the name in old archives
        names.setName("Account", for: Account.self)  // the name for new ones
        return names
    }

    static func write(_ account: Account, to file: URL) throws {
        let archive = try KeyedArchive(archiving: account)
        try archive.data.write(to: file)
    }

    static func read(_ archive: KeyedArchive) throws -> Account? {
        let account = try archive.decodeObject(of: Account.self, allowing: [NSArray.self])
        return account
    }
}
