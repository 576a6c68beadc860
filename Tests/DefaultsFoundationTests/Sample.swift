import Foundation
import Testing

/// An object of a class of Foundation's that can be archived.
struct Sample: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let make: @Sendable () -> NSObject

    init(_ name: String, _ make: @escaping @Sendable () -> NSObject) {
        testDescription = name
        self.make = make
    }

    /// Objects that are archived without a class: strings, numbers and data.
    static let plain: [Sample] = [
        Sample("text") { NSString("text") },
        Sample("text in UTF-16") { NSString("é😀\u{0}") },
        Sample("no text") { NSString("") },
        Sample("text like nil") { NSString("$null") },
        Sample("true") { NSNumber(value: true) },
        Sample("false") { NSNumber(value: false) },
        Sample("1") { NSNumber(value: 1) },
        Sample("-1") { NSNumber(value: -1) },
        Sample("the smallest integer") { NSNumber(value: Int64.min) },
        Sample("the largest integer") { NSNumber(value: UInt64.max) },
        Sample("0.1") { NSNumber(value: 0.1) },
        Sample("minus zero") { NSNumber(value: -0.0) },
        Sample("a single") { NSNumber(value: Float(0.5)) },
        Sample("infinity") { NSNumber(value: Double.infinity) },
        Sample("no data") { NSData() },
        Sample("data") { NSData(data: Data([1, 2])) },
    ]

    /// Objects of all other classes.
    static let objects: [Sample] = [
        Sample("mutable text") { NSMutableString(string: "mutable") },
        Sample("mutable data") { NSMutableData(data: Data([3])) },
        Sample("date") { NSDate(timeIntervalSinceReferenceDate: -0.5) },
        Sample("null") { NSNull() },
        Sample("UUID") {
            UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255)) as NSUUID
        },
        Sample("URL") { URL(filePath: "/a/ä b") as NSURL },
        Sample("relative URL") { URL(filePath: "e/f", relativeTo: URL(filePath: "/a/b")) as NSURL },
        Sample("empty array") { NSArray() },
        Sample("array") { NSArray(array: [1, "a", NSNull(), [2], Data()]) },
        Sample("mutable array") { NSMutableArray(array: ["m"]) },
        Sample("array of mutable objects") {
            NSArray(array: [
                NSMutableString(string: "m"), NSCountedSet(array: [1, 1]), NSMutableArray(),
                NSMutableDictionary(object: NSMutableString(string: "n"), forKey: "k" as NSString),
            ])
        },
        Sample("empty dictionary") { NSDictionary() },
        Sample("dictionary") { NSDictionary(dictionary: ["b": 1, "a": ["c": Data([1])]]) },
        Sample("dictionary with other keys") {
            NSDictionary(dictionary: [
                1: "integer", Date(timeIntervalSinceReferenceDate: 1): "date",
            ])
        },
        Sample("mutable dictionary") { NSMutableDictionary(dictionary: ["m": 1]) },
        Sample("empty set") { NSSet() },
        Sample("set") { NSSet(array: [3, 1, 2, "a", Date(timeIntervalSinceReferenceDate: 1)]) },
        Sample("set of sets") { NSSet(array: [Set([1, 2]), Set(["a"]), Set<Int>()]) },
        Sample("mutable set") { NSMutableSet(array: ["b", "a"]) },
        Sample("empty counted set") { NSCountedSet() },
        Sample("counted set") { NSCountedSet(array: ["a", "b", "a"]) },
        Sample("ordered set") { NSOrderedSet(array: ["z", "a"]) },
        Sample("mutable ordered set") { NSMutableOrderedSet(array: [2, 1]) },
        Sample("error") { NSError(domain: "org.example", code: -3) },
        Sample("error with more") {
            NSError(domain: "d", code: 1, userInfo: ["a": [1, "b"], "u": URL(filePath: "/u")])
        },
        Sample("query item") { NSURLQueryItem(name: "n", value: "v") },
        Sample("query item without a value") { NSURLQueryItem(name: "n", value: nil) },
        Sample("empty index set") { NSIndexSet() },
        Sample("index set of one range") {
            NSIndexSet(indexesIn: NSRange(location: 5, length: 300))
        },
        Sample("index set") {
            NSIndexSet(indexSet: IndexSet([0, 1, 2, 300, 70_000, Int.max - 1]))
        },
        Sample("mutable index set") { NSMutableIndexSet(indexSet: IndexSet([7, 9])) },
        Sample("range") { NSValue(range: NSRange(location: 3, length: 4)) },
        Sample("range of nothing") { NSValue(range: NSRange(location: NSNotFound, length: 0)) },
        Sample("point") { NSValue(point: NSPoint(x: 0.1, y: -2)) },
        Sample("size") { NSValue(size: NSSize(width: 1e-7, height: 1e22)) },
        Sample("rectangle") { NSValue(rect: NSRect(x: 1, y: 2.5, width: 3, height: 4)) },
        Sample("interval") {
            NSDateInterval(start: Date(timeIntervalSinceReferenceDate: 8), duration: 0.5)
        },
        Sample("empty attributed text") { NSAttributedString(string: "") },
        Sample("attributed text") {
            NSAttributedString(
                string: "é😀", attributes: [.size: 12, .link: URL(filePath: "/u") as NSURL])
        },
        Sample("attributed text of several runs") { NSAttributedString.withRuns },
        Sample("mutable attributed text") {
            NSMutableAttributedString(attributedString: NSAttributedString.withRuns)
        },
        Sample("time zone") {
            TimeZone(identifier: "Europe/Vienna").map { $0 as NSTimeZone } ?? NSNull()
        },
        Sample("locale") { NSLocale(localeIdentifier: "de_AT") },
        Sample("name") {
            var name = PersonNameComponents()
            name.givenName = "Ada"
            return name as NSPersonNameComponents
        },
        Sample("date components") {
            NSDateComponents().setting {
                $0.year = 2001
                $0.isLeapMonth = true
            }
        },
    ]

    static let all = plain + objects

    /// Whether an object is what this one was made as.
    func isSame(_ object: NSObject) -> Bool {
        // Foundation on Linux compares objects of NSDateInterval by their addresses.
        if let interval = object as? NSDateInterval {
            return (make() as? NSDateInterval).map {
                $0 as DateInterval == interval as DateInterval
            }
                ?? false
        }
        return object.isEqual(make())
    }
}

extension NSDateComponents {
    fileprivate func setting(_ body: (NSDateComponents) -> Void) -> NSDateComponents {
        body(self)
        return self
    }
}

extension NSAttributedString.Key {
    static let size = NSAttributedString.Key("Size")
    static let link = NSAttributedString.Key("Link")
}

extension NSAttributedString {
    /// A text whose parts have different attributes; one has none.
    fileprivate static var withRuns: NSAttributedString {
        let text = NSMutableAttributedString(string: String(repeating: "long ", count: 60))
        text.setAttributes([.size: 12], range: NSRange(location: 0, length: 200))
        text.setAttributes([.size: 13, .link: "u"], range: NSRange(location: 250, length: 3))
        return NSAttributedString(attributedString: text)
    }
}
