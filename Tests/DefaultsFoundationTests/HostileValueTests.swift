import ArchiveTestSupport
import DefaultsClient
import DefaultsFoundation
import Foundation
import KeyedArchive
import PropertyList
import TestSupport
import Testing

/// A trap ends the whole run of the tests, so that nothing needs to be expected here.
@Suite("Hostile archives of Foundation's Codable types give an error or a value")
struct HostileValueTests {
    /// A value of a type, and how a key reads it.
    struct Victim: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let archive: @Sendable () throws -> KeyedArchive?
        /// Reads an archive, and uses the value as a program would.
        let use: @Sendable (KeyedArchive) throws -> Void

        init<Value: Hashable>(_ value: Value, _ coding: ValueCoding<Value>)
        where Value: Codable & Sendable {
            testDescription = "\(Value.self)"
            archive = { try coding.encode(value) }
            use = { archive in
                let value = try coding.decode(archive)
                _ = "\(value) \(value.hashValue) \(value == value)"
                _ = try coding.encode(value)
            }
        }
    }

    static let victims: [Victim] = [
        Victim(IndexSet([1, 2, 5, 300]), .checked()),
        Victim(
            URLComponents(string: "https://u:p@example.org:80/a?b=c#d") ?? URLComponents(),
            .checked()),
        Victim(CharacterSet(charactersIn: "aé😀"), .checked()),
        Victim(NSRange(location: 1, length: 2), .codable()),
        Victim(CGRect(x: 1, y: 2, width: 3, height: 4), .codable()),
        Victim(Locale(identifier: "de_AT"), .codable()),
        Victim(TimeZone.gmt, .codable()),
        Victim(Calendar(identifier: .hebrew), .checked()),
        Victim(
            DateComponents(calendar: Calendar(identifier: .gregorian), timeZone: .gmt, year: 2001),
            .checked()),
        Victim(DateInterval(start: .distantPast, duration: 1), .checked()),
        Victim(Measurement(value: 3, unit: UnitLength.miles), .codable()),
        Victim(URL(filePath: "/a"), .codable()),
        Victim(Decimal(1.5), .codable()),
        Victim(PersonNameComponents(), .codable()),
        Victim(
            UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0xA0, 0xB0, 0xC0, 0xD0, 0xE0, 0xF0)),
            .codable()),
        Victim(IndexPath(indexes: [1, 2, 3]), .codable()),
        Victim(AffineTransform(scale: 2), .codable()),
    ]

    @Test("if any part is replaced by any other", arguments: victims)
    func replaced(_ victim: Victim) throws {
        let bytes = try #require(try victim.archive()).bytes
        let list = try PropertyList(bytes)
        let tree = Tree(list.root, of: list)
        let others = HostileTests.strangers(uidCount: 5) + ["a b", 99, -99, [1, 2]]
        let paths = tree.paths.filter { $0.first == "$objects" && !$0.contains("$classes") }
        var count = 0
        func use(_ tree: Tree) {
            guard let archive = try? KeyedArchive(validating: tree.bytes()) else { return }
            try? victim.use(archive)
            count += 1
        }
        for place in Thoroughness.places(in: paths.count * others.count) {
            let path = paths[place / others.count][...]
            use(tree.replacing(path, by: others[place % others.count]))
        }
        for path in paths { use(tree.removing(path[...])) }
        #expect(count > 0)
    }
}
