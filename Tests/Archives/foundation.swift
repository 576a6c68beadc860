// Writes keyed archives with the archiver of Swift's Foundation into the folder that it is given.

import Foundation

final class Account: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }

    let username: String
    var friend: Account?

    init(_ username: String) { self.username = username }

    init?(coder: NSCoder) { nil }

    func encode(with coder: NSCoder) {
        coder.encode(username as NSString, forKey: "username")
        coder.encode(username == "ada", forKey: "isAdmin")
        coder.encode(Int32(36), forKey: "age")
        coder.encode(Int64.min, forKey: "total")
        coder.encode(Float(0.5), forKey: "ratio")
        coder.encode(0.1, forKey: "balance")
        coder.encode(["a", "b"] as NSArray, forKey: "tags")
        coder.encode(friend, forKey: "friend")
    }
}

let ada = Account("ada")
ada.friend = Account("grace")

let ring = Account("ada")
ring.friend = Account("grace")
ring.friend?.friend = ring

let values: NSDictionary = [
    "text": "plain", "accented": "cé😀", "empty": "", "smallest": Int64.min, "integer": 42,
    "real": 0.1, "on": true, "date": Date(timeIntervalSinceReferenceDate: 60.5),
    "data": Data([1, 2, 255]), "null": NSNull(), "list": ["a", 7, [] as [Int]],
    "url": URL(filePath: "/etc/motd"),
    "uuid": UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)),
]
let collections: NSArray = [
    NSOrderedSet(array: [1, 2, 3]), NSSet(object: "a"), NSMutableArray(object: "b"),
    NSMutableDictionary(object: "v", forKey: "k" as NSString), NSMutableString(string: "changing"),
]

let roots: [(name: String, root: Any)] = [
    ("foundation-account", ada), ("foundation-account.xml", ada), ("foundation-ring", ring),
    ("foundation-values", values), ("foundation-collections", collections),
    ("foundation-notes", NSAttributedString(string: "Buy milk")),
]

func write(to name: String, _ encode: (NSKeyedArchiver) -> Void) throws {
    let archiver = NSKeyedArchiver(requiringSecureCoding: false)
    archiver.outputFormat = name.hasSuffix(".xml") ? .xml : .binary
    encode(archiver)
    archiver.finishEncoding()
    let file = URL(filePath: CommandLine.arguments[1]).appending(path: name)
    try archiver.encodedData.write(to: file)
}

for (name, root) in roots {
    try write(to: name) { $0.encode(root, forKey: "root") }
}

// Several objects at the top, and none of them is the root.
try write(to: "foundation-top") {
    $0.encode("Shopping" as NSString, forKey: "title")
    $0.encode(5, forKey: "count")
    $0.encode(["milk", "tea"] as NSArray, forKey: "items")
}
