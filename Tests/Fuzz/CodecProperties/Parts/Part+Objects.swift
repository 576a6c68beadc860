import DefaultsFoundation
import Foundation
import KeyedArchive

extension Part {
    /// The objects of NSCoding: what is made can be archived, and is made of that again.
    static let objects = Part("objects") { bytes in
        guard let archive = try validated(bytes) else { return .refused }
        guard let object = try object(of: archive) else { return .refused }
        let again: KeyedArchive
        do throws(ObjectCodingError) {
            again = try KeyedArchive(archiving: object, options: .small)
        } catch {
            try Refusals.check(error, of: bytes)
            return .accepted
        }
        _ = try KeyedArchive(validating: again.bytes)
        try require(
            try KeyedArchive(archiving: object, options: .small).bytes == again.bytes,
            "An object was archived in other bytes the second time.")
        guard let copy = try again.decodeObject(of: classes, options: .small) else {
            throw Violation(description: "An object that was archived is nil.")
        }
        try require(
            try KeyedArchive(archiving: copy, options: .small).bytes == again.bytes,
            "An object that was archived is made as another one.")
        return .accepted
    }

    /// The object that the archive is, or nil if it is not one and the error is a proper one.
    private static func object(of archive: KeyedArchive) throws -> NSObject? {
        do throws(ObjectCodingError) {
            return try archive.decodeObject(of: classes, options: .small)
        } catch {
            try Refusals.check(error, of: archive.bytes)
            return nil
        }
    }

    private static let classes: [AnyClass] = [
        NSString.self, NSMutableString.self, NSNumber.self, NSData.self, NSMutableData.self,
        NSDate.self, NSNull.self, NSURL.self, NSUUID.self, NSArray.self, NSMutableArray.self,
        NSDictionary.self, NSMutableDictionary.self, NSSet.self, NSMutableSet.self,
        NSCountedSet.self, NSOrderedSet.self, NSMutableOrderedSet.self, NSError.self,
        NSURLQueryItem.self, NSTimeZone.self, NSLocale.self, NSPersonNameComponents.self,
        NSDateComponents.self, AccountObject.self,
    ]
}

extension Seeds {
    /// Archives of Foundation's classes that no value in JSON represents.
    static var objects: [[UInt8]] {
        var components = DateComponents()
        (components.year, components.isLeapMonth) = (2001, false)
        var name = PersonNameComponents()
        (name.givenName, name.nickname) = ("Ada", "Countess")
        let values: [Any] = [
            NSError(domain: "d", code: 3, userInfo: ["k": ["v"]]),
            NSURLQueryItem(name: "q", value: "v"), TimeZone.gmt, Locale(identifier: "de_DE"),
            name, components, NSCountedSet(array: ["a", "a"]),
            URL(filePath: "relative", relativeTo: URL(string: "https://swift.org")) as Any,
        ]
        return values.compactMap { try? KeyedArchive(archiving: $0).bytes }
    }
}

extension ObjectCodingOptions {
    /// Limits that small inputs keep, and the names of the classes that some seeds have.
    static var small: ObjectCodingOptions {
        var options = ObjectCodingOptions()
        options.depth = 100
        options.count = 5000
        options.size = 1 << 16
        options.classNames.setClass(AccountObject.self, forName: "Account")
        options.classNames.setName("Account", for: AccountObject.self)
        return options
    }
}

extension Refusals {
    static func check(_ error: ObjectCodingError, of bytes: [UInt8]) throws(Violation) {
        try require(
            error.message.utf8.last == UInt8(ascii: "."), "\(error) is no sentence.")
        if let offset = error.byteOffset {
            try require((0...bytes.count).contains(offset), "\(error) is of no byte there is.")
        }
    }
}

/// An app's class, which decodes a field of each kind.
private final class AccountObject: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }

    private let name: String?
    private let age: Int32
    private let ratio: Double
    private let isActive: Bool
    private let owner: NSObject?

    init?(coder: NSCoder) {
        name = coder.decodeObject(of: NSString.self, forKey: "name") as String?
        age = coder.decodeInt32(forKey: "age")
        ratio = coder.decodeDouble(forKey: "ratio")
        isActive = coder.decodeBool(forKey: "active")
        owner = coder.decodeObject(of: AccountObject.self, forKey: "owner")
        super.init()
    }

    func encode(with coder: NSCoder) {
        coder.encode(name as NSString?, forKey: "name")
        coder.encode(age, forKey: "age")
        coder.encode(ratio, forKey: "ratio")
        coder.encode(isActive, forKey: "active")
        coder.encode(owner, forKey: "owner")
    }
}
