import DefaultsClient
import Foundation

/// The bugs of a user: "Bug 1", "Bug 2" and so on.
struct BugCollection {
    let defaults: Defaults

    /// The names in the order of their numbers.
    ///
    /// No picture is loaded for this.
    var names: [String] {
        defaults.keys(in: .domain).compactMap(number).sorted().map { "Bug \($0)" }
    }

    private func number(of key: String) -> Int? {
        key.hasPrefix("Bug ") ? Int(key.dropFirst("Bug ".count)) : nil
    }

    /// Adds a bug and its pictures: all of it or nothing.
    func add(_ bug: Bug, thumbnail: Data, image: Data) async throws -> String {
        let name = "Bug \(try await defaults.update(.lastNumber) { $0 += 1 })"
        try await defaults.commit {
            $0[.bug(name)] = bug
            $0[.thumbnail(of: name)] = thumbnail
            $0[.image(of: name)] = image
        }
        return name
    }

    /// Changes the rating, as often as a slider moves: that is not waited for, and what has not been
    /// sent yet when the next change comes is not sent at all.
    func rate(_ name: String, _ rating: Int) {
        defaults[.bug(name)]?.rating = rating
    }

    /// Deletes a bug and its pictures.
    func delete(_ name: String) {
        defaults.apply {
            $0.reset(.bug(name))
            $0.reset(.thumbnail(of: name))
            $0.reset(.image(of: name))
        }
    }
}
