import KeyedArchive
import TestSupport
import Testing

@testable import OwnedDocuments

/// Random documents of several owners beside a user: at the end, the user has what the user has set.
struct ModelTests {
    private let owners = ["a", "b", "c/d"]
    private let keys = ["K1", "K2", "K3", "K4"]

    @Test func `After all owners have gone, each key has its last value of a non-owner`() throws {
        var random = SeededGenerator()
        for _ in 0..<(Thoroughness.isWhole ? 20_000 : 400) {
            var (desk, users): (Desk, [String: String]) = (Desk(), [:])
            var trail: [String] = []
            for _ in 0..<Int.random(in: 1...25, using: &random) {
                let owner = owners.randomElement(using: &random)!
                switch Int.random(in: 0..<10, using: &random) {
                case 0..<3:
                    let key = keys.randomElement(using: &random)!
                    let value =
                        Bool.random(using: &random)
                        ? "\(Int.random(in: 0..<5, using: &random))" : nil
                    // A value that an owner has set once more cannot be told from the owner's.
                    let isOwners = owners.contains {
                        guard let row = desk.row($0, key) else { return false }
                        return row.applied == value.map { ValueChecksum(of: archive($0)) }
                    }
                    guard !isOwners else { continue }
                    trail.append("user \(key) \(value ?? "-")")
                    (desk[key], users[key]) = (value, value)
                case 3..<9:
                    let document = document(using: &random)
                    let force = Int.random(in: 0..<4, using: &random) == 0
                    trail.append("\(owner) \(document) \(force)")
                    try desk.apply(owner, document, force: force)
                default:
                    trail.append("unapply \(owner)")
                    try desk.unapply(owner)
                }
            }
            let shuffled = owners.shuffled(using: &random)
            for owner in shuffled { try desk.unapply(owner) }
            #expect(desk.values == users, "\(trail) \(shuffled)")
            #expect(desk.rows.isEmpty, "\(trail)")
        }
    }

    private func document(using random: inout SeededGenerator) -> String {
        var (values, removed, once): ([String], [String], [String]) = ([], [], [])
        for key in keys {
            // Some of the values are ones that the user has, too.
            let value = Int.random(in: 3..<12, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1: values.append("\"\(key)\": \(value)")
            case 2: removed.append("\"\(key)\"")
            case 3: once.append("\"\(key)\": \(value)")
            default: break
            }
        }
        values.append("\"$remove\": [\(removed.joined(separator: ", "))]")
        values.append("\"$once\": {\(once.joined(separator: ", "))}")
        return "{\(values.joined(separator: ", "))}"
    }

    @Test func `Of a list that owners and the user change, the user's elements remain`() throws {
        var random = SeededGenerator()
        for _ in 0..<(Thoroughness.isWhole ? 20_000 : 400) {
            var (desk, mine): (Desk, [String]?) = (Desk(), nil)
            if Bool.random(using: &random) { mine = ["u1", "u2"] }
            desk["L"] = mine.map(list)
            var trail = ["\(mine ?? [])"]
            for _ in 0..<Int.random(in: 1...15, using: &random) {
                let owner = owners.randomElement(using: &random)!
                switch Int.random(in: 0..<8, using: &random) {
                case 0..<2:
                    let element = "u\(Int.random(in: 1...4, using: &random))"
                    var now = desk["L"].map(elements) ?? []
                    var own = mine ?? []
                    guard !own.contains(element), !now.contains(element) else { continue }
                    now.append(element)
                    own.append(element)
                    (desk["L"], mine) = (list(now), own)
                    trail.append("user + \(element)")
                case 2..<7:
                    let ensured = ["a", "b", "c", "u1"].filter { _ in Bool.random(using: &random) }
                    let document = #"{"L": {"$ensure": \#(list(ensured)), "$without": ["u2"]}}"#
                    let force = Int.random(in: 0..<4, using: &random) == 0
                    trail.append("\(owner) \(document) \(force)")
                    try desk.apply(owner, document, force: force)
                    // Who has taken something over needs no force for it again.
                    if force { #expect(try !desk.apply(owner, document), "\(trail)") }
                default:
                    trail.append("unapply \(owner)")
                    try desk.unapply(owner)
                }
            }
            for owner in owners.shuffled(using: &random) { try desk.unapply(owner) }
            let left = desk["L"].map(elements)
            #expect((left ?? []).sorted() == (mine ?? []).sorted(), "\(trail)")
            #expect(desk.rows.isEmpty, "\(trail)")
        }
    }

    private func list(_ elements: [String]) -> String {
        "[\(elements.map { "\"\($0)\"" }.joined(separator: ","))]"
    }

    private func elements(_ list: String) -> [String] {
        list.split(whereSeparator: { "[],\"".contains($0) }).map(String.init)
    }
}
