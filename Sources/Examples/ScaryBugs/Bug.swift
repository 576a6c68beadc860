import DefaultsClient
import Foundation

/// A scary bug, without its pictures.
struct Bug: Codable, Hashable {
    var title: String
    /// From 0 to 5.
    var rating: Int
    /// Where it lives.
    ///
    /// The first version of the program did not have this field.
    var habitat: String

    init(title: String, rating: Int, habitat: String = Bug.unknownHabitat) {
        self.title = title
        self.rating = rating
        self.habitat = habitat
    }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        title = try fields.decode(String.self, forKey: .title)
        rating = try fields.decode(Int.self, forKey: .rating)
        habitat =
            try fields.decodeIfPresent(String.self, forKey: .habitat) ?? Bug.unknownHabitat
    }

    static let unknownHabitat = "unknown"
}

/// Each document is a value of its own, and so is each of its pictures: whoever reads one does not load
/// the others, and a change of the rating does not send the pictures.
extension DefaultsKeys {
    static func bug(_ name: String) -> DefaultsKey<Bug?> {
        DefaultsKey(name)
    }

    static func thumbnail(of name: String) -> DefaultsKey<Data?> {
        DefaultsKey("\(name) Thumbnail")
    }

    static func image(of name: String) -> DefaultsKey<Data?> {
        DefaultsKey("\(name) Image")
    }

    /// The number of the newest bug, which none after it gets again.
    static let lastNumber = DefaultsKey("LastNumber", default: 0)
}
