import DefaultsFoundation
import Foundation
import KeyedArchive

// Prints archives of sets and dictionaries, in Base64, one a line: the same in each process, though
// Swift's Hasher, and so the order of a set in memory, differs from one to the next.

final class Link: NSObject, NSSecureCoding, Encodable {
    static var supportsSecureCoding: Bool { true }

    let number: Int
    var previous: Link?
    let neighbours = NSMutableSet()

    init(_ number: Int) { self.number = number }

    init?(coder: NSCoder) { nil }

    private enum CodingKeys: CodingKey {
        case number, previous
    }

    // The neighbours lead back, which no Codable archive can.

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(number, forKey: .number)
        try container.encodeIfPresent(previous, forKey: .previous)
    }

    func encode(with coder: NSCoder) {
        coder.encode(number, forKey: "number")
        coder.encode(previous, forKey: "previous")
        coder.encode(neighbours, forKey: "neighbours")
    }
}

struct Links: Encodable {
    let all: Set<Link>
    let keyed: [Link: Bool]
}

// A line that differs at its far end, and a ring of which all are the same.
let line = (0..<30).map { Link($0 == 0 ? 1 : 0) }
for (left, right) in zip(line, line.dropFirst()) {
    right.previous = left
    left.neighbours.add(right)
    right.neighbours.add(left)
}
let ring = (0..<10).map { _ in Link(2) }
for number in ring.indices { ring[number].previous = ring[(number + 1) % ring.count] }
// The same as the ring, but for Codable, which has no cycles.
let chain = (0..<10).map { _ in Link(2) }
for (left, right) in zip(chain, chain.dropFirst()) { right.previous = left }

for links in [line, chain, line + chain] {
    let keyed = Dictionary(uniqueKeysWithValues: links.map { ($0, true) })
    let value = Links(all: Set(links), keyed: keyed)
    print(try KeyedArchiveEncoder().encode(value).data.base64EncodedString())
}
for links in [line, ring, line + ring] {
    print(try KeyedArchive(archiving: Set(links)).data.base64EncodedString())
}
