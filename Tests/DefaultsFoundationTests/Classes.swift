import DefaultsFoundation
import Foundation

/// An object with a field of each kind.
class Account: NSObject, NSSecureCoding {
    class var supportsSecureCoding: Bool { true }

    var username = "ada"
    var age = 36
    var visits: Int32 = -7
    var total: Int64 = .max
    var balance = 0.1
    var ratio: Float = 0.5
    var isActive = true
    var token: [UInt8] = [1, 2, 3]
    var avatar: Data? = Data([0, 255])
    var birthday: Date? = Date(timeIntervalSinceReferenceDate: 60)
    var tags: [String] = ["é", ""]

    override init() {}

    required init?(coder: NSCoder) {
        guard let username = coder.decodeObject(of: NSString.self, forKey: "username") else {
            return nil
        }
        self.username = username as String
        age = coder.decodeInteger(forKey: "age")
        visits = coder.decodeInt32(forKey: "visits")
        total = coder.decodeInt64(forKey: "total")
        balance = coder.decodeDouble(forKey: "balance")
        ratio = coder.decodeFloat(forKey: "ratio")
        isActive = coder.decodeBool(forKey: "isActive")
        token = coder.withDecodedUnsafeBytes(forKey: "token") { $0.map { Array($0) } ?? [] }
        avatar = coder.decodeObject(of: NSData.self, forKey: "avatar") as Data?
        birthday = coder.decodeObject(of: NSDate.self, forKey: "birthday") as Date?
        let tags = coder.decodeObject(of: [NSArray.self, NSString.self], forKey: "tags")
        self.tags = tags as? [String] ?? []
    }

    func encode(with coder: NSCoder) {
        coder.encode(username, forKey: "username")
        coder.encode(age, forKey: "age")
        coder.encode(visits, forKey: "visits")
        coder.encode(total, forKey: "total")
        coder.encode(balance, forKey: "balance")
        coder.encode(ratio, forKey: "ratio")
        coder.encode(isActive, forKey: "isActive")
        coder.encodeBytes(token, length: token.count, forKey: "token")
        coder.encode(avatar, forKey: "avatar")
        coder.encode(birthday, forKey: "birthday")
        coder.encode(tags, forKey: "tags")
    }

    override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? Account else { return false }
        return username == other.username && age == other.age && visits == other.visits
            && total == other.total && balance == other.balance && ratio == other.ratio
            && isActive == other.isActive && token == other.token && avatar == other.avatar
            && birthday == other.birthday && tags == other.tags
    }
}

/// A class that inherits fields and has one of its own.
final class Administrator: Account {
    override class var supportsSecureCoding: Bool { true }

    var level = 3

    override init() { super.init() }

    required init?(coder: NSCoder) {
        super.init(coder: coder)
        level = coder.decodeInteger(forKey: "level")
    }

    override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(level, forKey: "level")
    }

    override func isEqual(_ object: Any?) -> Bool {
        super.isEqual(object) && (object as? Administrator)?.level == level
    }
}

/// An object of booleans alone, and one that is written without a key.
final class Options: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }

    var playsSound = true
    var isFullScreen = false
    var hint: String? = "unkeyed"

    override init() {}

    init?(coder: NSCoder) {
        playsSound = coder.decodeBool(forKey: "playsSound")
        isFullScreen = coder.decodeBool(forKey: "isFullScreen")
        hint = coder.decodeObject() as? String
    }

    func encode(with coder: NSCoder) {
        coder.encode(playsSound, forKey: "playsSound")
        coder.encode(isFullScreen, forKey: "isFullScreen")
        coder.encode(hint)
    }
}

/// An object of a graph: it has children, a parent that it does not own, and a friend.
final class Person: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }

    let name: String
    var children: [Person] = []
    weak var parent: Person?
    var friend: Person?

    init(_ name: String, children: [Person] = []) {
        self.name = name
        self.children = children
        super.init()
        for child in children { child.parent = self }
    }

    init?(coder: NSCoder) {
        name = coder.decodeObject(of: NSString.self, forKey: "name") as String? ?? ""
        super.init()
        coder.resolveReferences(to: self)
        let children = coder.decodeObject(of: [NSArray.self, Person.self], forKey: "children")
        self.children = children as? [Person] ?? []
        parent = coder.decodeObject(of: Person.self, forKey: "parent")
        friend = coder.decodeObject(of: Person.self, forKey: "friend")
    }

    func encode(with coder: NSCoder) {
        coder.encode(name, forKey: "name")
        coder.encode(children, forKey: "children")
        coder.encodeConditionalObject(parent, forKey: "parent")
        coder.encode(friend, forKey: "friend")
    }
}

/// An object that codes itself by whatever is put into it.
final class Scripted: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }

    /// What the next object of this class does to make itself; for the test's own task alone.
    @TaskLocal static var script: @Sendable (NSCoder) -> Bool = { _ in true }

    private let writing: (NSCoder) -> Void

    init(_ writing: @escaping (NSCoder) -> Void) {
        self.writing = writing
    }

    init?(coder: NSCoder) {
        writing = { _ in }
        super.init()
        guard Self.script(coder) else { return nil }
    }

    func encode(with coder: NSCoder) {
        writing(coder)
    }
}

/// A class that says that it supports no secure coding.
final class Insecure: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { false }

    override init() {}
    init?(coder: NSCoder) {}
    func encode(with coder: NSCoder) {}
}

/// A class that cannot be coded at all.
final class Plain: NSObject {}

/// An object that lets another stand for it.
final class Stand: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }

    let other: Any?

    init(_ other: Any?) { self.other = other }
    init?(coder: NSCoder) { nil }
    func encode(with coder: NSCoder) {}
    override func replacementObject(for coder: NSCoder) -> Any? { other }
}

/// A subclass of a class of Foundation that is only made by this module.
final class Title: NSURLQueryItem, @unchecked Sendable {}

enum Outer {
    /// A class with a longer name than NSClassFromString takes.
    final class Inner: NSObject, NSSecureCoding {
        static var supportsSecureCoding: Bool { true }
        override init() {}
        init?(coder: NSCoder) {}
        func encode(with coder: NSCoder) {}
    }
}
