import DefaultsFoundation
import ExampleSupport
import Foundation

/// A scary bug without its pictures: an object of NSSecureCoding.
///
/// The first version of the program wrote the fields `Title` and `Rating`. The second one added
/// `Habitat`, and `Version` to be ready for the next.
final class ScaryBugData: NSObject, NSSecureCoding, ArchiveNamed {
    static var supportsSecureCoding: Bool { true }
    /// Programs in Objective-C find the class by this name, and not by `ScaryBugs.ScaryBugData`.
    static let archiveClassName = "ScaryBugData"

    var title: String
    var rating: Rating
    /// Where the bug lives.
    var habitat: String

    init(title: String, rating: Rating, habitat: String = ScaryBugData.unknownHabitat) {
        self.title = title
        self.rating = rating
        self.habitat = habitat
    }

    private static let version = 2
    private static let unknownHabitat = "unknown"

    init?(coder: NSCoder) {
        let version =
            coder.containsValue(forKey: "Version") ? coder.decodeInteger(forKey: "Version") : 1
        guard version <= Self.version else {
            coder.failWithError(
                Refusal(
                    "It was written by version \(version) of the program, and this is version "
                        + "\(Self.version). Use the later version."))
            return nil
        }
        guard let title = coder.decodeObject(of: NSString.self, forKey: "Title") else {
            coder.failWithError(Refusal("It has no title."))
            return nil
        }
        guard let rating = Rating(nearest: coder.decodeFloat(forKey: "Rating")) else {
            coder.failWithError(Refusal("Its rating is not from 0 to 5."))
            return nil
        }
        self.title = String(describing: title)
        self.rating = rating
        let habitat = coder.decodeObject(of: NSString.self, forKey: "Habitat")
        self.habitat = habitat.map(String.init(describing:)) ?? Self.unknownHabitat
    }

    func encode(with coder: NSCoder) {
        coder.encode(title, forKey: "Title")
        coder.encode(rating.stars, forKey: "Rating")
        coder.encode(habitat, forKey: "Habitat")
        coder.encode(Self.version, forKey: "Version")
    }
}

/// From 0 to 5 stars, in halves.
struct Rating {
    let stars: Float

    private static let range: ClosedRange<Float> = 0...5

    /// The half that is nearest to a stored number; nil if that is out of range.
    init?(nearest stars: Float) {
        guard Self.range.contains(stars) else { return nil }
        self.stars = (stars * 2).rounded() / 2
    }

    /// What the user has typed.
    init(_ text: String) throws {
        guard let stars = Float(text), Self.range.contains(stars),
            stars * 2 == (stars * 2).rounded()
        else {
            throw Refusal("\"\(text)\" is not a rating. A rating is 0, 0.5, 1 and so on up to 5.")
        }
        self.stars = stars
    }
}

extension Rating: CustomStringConvertible {
    var description: String {
        stars == stars.rounded() ? "\(Int(stars))" : "\(stars)"
    }
}
