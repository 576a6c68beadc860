import DefaultsClient
import DefaultsFoundation
import ExampleSupport
import Foundation

/// A level that the player has reached.
///
/// It knows the levels that were reached from it, and they know it: a graph with cycles. Codable
/// types cannot represent it, but objects of NSSecureCoding can.
final class Level: NSObject, NSSecureCoding, ArchiveNamed {
    static var supportsSecureCoding: Bool { true }
    /// Programs in Objective-C find the class by this name, and not by `GameOptions.Level`.
    static let archiveClassName = "Level"

    let name: String
    /// The levels that were reached from this one.
    private(set) var next: [Level] = []
    /// The level that this one was reached from; nil of the first.
    ///
    /// Weak, so that the cycle does not stay in memory.
    private(set) weak var parent: Level?

    init(_ name: String) {
        self.name = name
    }

    init?(coder: NSCoder) {
        guard let name = coder.decodeObject(of: NSString.self, forKey: "name") else {
            coder.failWithError(Refusal("A level has no name."))
            return nil
        }
        self.name = String(describing: name)
        super.init()
        // The next levels refer to this one, before it is complete.
        coder.resolveReferences(to: self)
        parent = coder.decodeObject(of: Level.self, forKey: "parent")
        let next = coder.decodeObject(of: [NSArray.self, Level.self], forKey: "next")
        self.next = next as? [Level] ?? []
        // Bytes from elsewhere may have a level that is before itself.
        guard parent !== self, self.next.allSatisfy({ $0.parent === self }) else {
            coder.failWithError(
                Refusal("The levels before and after \"\(self.name)\" contradict each other."))
            return nil
        }
    }

    func encode(with coder: NSCoder) {
        coder.encode(name, forKey: "name")
        coder.encode(parent, forKey: "parent")
        coder.encode(next, forKey: "next")
    }

    /// This level and all levels that were reached from it, in the order of the way.
    var all: [Level] { [self] + next.flatMap(\.all) }

    /// How many levels are before this one.
    var depth: Int { parent.map { $0.depth + 1 } ?? 0 }

    /// Adds a level that was reached from this one.
    func reach(_ name: String) {
        let level = Level(name)
        level.parent = self
        next.append(level)
    }
}

extension AnyDefaultsKey {
    /// The first level, with all others.
    static let levels = DefaultsKey("Levels", ofClass: Level.self) {
        Level("Meadow")
    }
}

extension Level {
    private static let longestWay = 100

    /// Notes that the player has reached a level from another one, and returns when it is stored.
    static func save(_ name: String, reachedFrom old: String) async throws {
        guard name.contains(where: { !$0.isWhitespace }) else {
            throw Refusal("The name of the level is empty. Enter a name.")
        }
        let defaults = GameOptions.shared.defaults
        try defaults.requireService()
        try await defaults.update(.levels) { first in
            let levels = first.all
            guard let level = levels.first(where: { $0.name == old }) else {
                throw Refusal(
                    "There is no level \"\(old)\". `GameOptions levels` lists the levels."
                )
            }
            guard !levels.contains(where: { $0.name == name }) else {
                throw Refusal("The level \"\(name)\" was reached already.")
            }
            guard level.depth < longestWay else {
                throw Refusal("The way to \"\(name)\" is longer than \(longestWay) levels.")
            }
            level.reach(name)
        }
    }
}
