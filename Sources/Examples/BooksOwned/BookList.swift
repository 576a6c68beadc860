import DefaultsClient
import ExampleSupport
import Foundation
import KeyedArchive

extension AnyDefaultsKey {
    /// The titles; there are none at the first start.
    static let titles = DefaultsKey<[String]>("Titles", default: [])
}

/// A list of titles, which several windows or programs may change at a time.
struct BookList {
    let defaults: Defaults

    /// The titles.
    ///
    /// - Throws: Why what is stored cannot be read.
    var titles: [String] { get throws { try defaults.value(of: .titles) } }

    /// Stores a list, if the user has none yet: an empty one, or the one that the administrator
    /// recommends.
    ///
    /// The value is made by `update`, so that the list of a program that starts at the same time is
    /// not overwritten.
    func makeAtFirstStart() async throws {
        guard !defaults.isSet(.titles), !defaults.isLocked(.titles) else { return }
        try await defaults.update(.titles) { _ in }
    }

    /// Adds a book.
    ///
    /// - Returns: All titles, which are stored now.
    func add(_ title: String) async throws -> [String] {
        let title = title.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !title.isEmpty else {
            throw Refusal("The title is empty. Enter the title of the book.")
        }
        return try await change { $0.append(title) }
    }

    /// Deletes the book of a row.
    ///
    /// - Parameter row: The first row is 1.
    /// - Returns: All titles, which are stored now.
    func delete(row: String) async throws -> [String] {
        try await change { titles in
            guard let row = Int(row), (1...).contains(row), row <= titles.count else {
                throw Refusal(
                    titles.isEmpty
                        ? "There is no row \"\(row)\": the list is empty."
                        : "There is no row \"\(row)\". Enter a number from 1 to \(titles.count).")
            }
            titles.remove(at: row - 1)
        }
    }

    /// Replaces all titles by those of a file.
    ///
    /// If the file cannot be read, or has none, the titles stay.
    ///
    /// - Returns: All titles, which are stored now.
    func load(from path: String) async throws -> [String] {
        let loaded = try ExampleSupport.load("a list of titles", from: path) {
            try KeyedArchiveDecoder().decode([String].self, from: $0)
        }
        guard !loaded.isEmpty else { throw nothing(of: "titles", in: path) }
        return try await change { $0 = loaded }
    }

    /// Writes all titles into a file.
    func save(to path: String) throws {
        let list = MutableCollection.array(try titles.map { try json(of: $0) })
        try write(Data(KeyedArchive(json: list).bytes), to: path)
    }

    /// Changes the titles as they are now, and returns all of them when they are stored.
    private func change(_ body: (inout [String]) throws -> Void) async throws -> [String] {
        // If they cannot be read, this says more than the update would.
        _ = try titles
        return try await defaults.update(.titles, body)
    }
}
