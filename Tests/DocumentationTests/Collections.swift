import DefaultsClient
import DefaultsFoundation
import KeyedArchive

// The code of comments about values inside others, so that it compiles.

private enum Values {
    static let extras = DefaultsKey("Extras", default: [:] as [String: DefaultsValue])

    static func set(_ defaults: Defaults) {
        defaults[.extras] = ["zoom": 1.5, "grid": true, "recent": ["a.txt", "b.txt"]]
        let zoom = defaults[.extras]["zoom"]?.doubleValue ?? 1
        print(zoom)
    }
}

extension AnyDefaultsKey {
    fileprivate static let extras = Values.extras
}

private enum Arrays {
    static let accounts = DefaultsKey<[StoredAccount]>(
        "Accounts", coding: .array(of: .object(ofClass: StoredAccount.self)), default: { [] })
}

private enum Dictionaries {
    static let accounts = DefaultsKey<[String: StoredAccount]>(
        "Accounts", coding: .dictionary(of: .object(ofClass: StoredAccount.self)),
        default: { [:] })
}

private enum Levels {
    struct Level: Codable {
        var number: Int
        var stars: Int  // since version 2
    }

    static func read(_ archive: KeyedArchive) throws -> [Level] {
        var decoder = KeyedArchiveDecoder()
        decoder.setMissingFields(of: Level.self, from: Level(number: 0, stars: 3))
        let levels = try decoder.decode([Level].self, from: archive)
        return levels
    }
}

private func show(_ archiveOfMomo: KeyedArchive, _ archiveOfDune: KeyedArchive) throws {
    func show(_ book: KeyedArchive) {}
    let shelf = try KeyedArchive(array: [archiveOfMomo, archiveOfDune])
    for book in try shelf.elements() { show(book) }
}
