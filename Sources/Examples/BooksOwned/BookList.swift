import DefaultsClient
import ExampleSupport
import Foundation

extension AnyDefaultsKey {
    /// The books that a list begins with.
    static let titles = DefaultsKey("Titles", default: ["Emma", "Moby-Dick"])
}

/// A list of titles, which several windows or programs may change at a time.
struct BookList {
    let defaults: Defaults

    /// The titles.
    ///
    /// - Throws: Why what is stored cannot be read.
    var titles: [String] { get throws { try defaults.value(of: .titles) } }

    /// Stores the first books, if the user has no list yet.
    ///
    /// A list that is empty, because the user has deleted all books, stays empty. The value is made
    /// by `update`, so that the list of a program that starts at the same time is not overwritten.
    ///
    /// - Returns: Whether the list was made now.
    func makeAtFirstStart() async throws -> Bool {
        guard !defaults.isSet(.titles), !defaults.isLocked(.titles) else { return false }
        try await defaults.update(.titles) { _ in }
        return true
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
                    "There is no row \"\(row)\". The list has \(titles.count) rows; the first is 1."
                )
            }
            titles.remove(at: row - 1)
        }
    }

    /// Changes the titles as they are now, and returns all of them when they are stored.
    private func change(_ body: (inout [String]) throws -> Void) async throws -> [String] {
        // If they cannot be read, this says more than the update would.
        _ = try titles
        return try await defaults.update(.titles, body)
    }
}
