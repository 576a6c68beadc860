import DefaultsClient
import DefaultsFoundation
import Foundation

// A program that brings its defaults up to date, for tests in several processes:
//
//     MigratingProgram count DOMAIN STEPS [STEP]   each step adds 1 to Counter; it dies in STEP
//     MigratingProgram race DOMAIN STEPS           waits for a byte in step 1, which it has begun
//     MigratingProgram store NAME                  stores values in Foundation's UserDefaults
//     MigratingProgram import DOMAIN NAME          takes them over
//     MigratingProgram player DOMAIN               shows the player

/// An object that the program has archived, to store it as data.
final class Player: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }

    let name: String
    let level: Int

    init(name: String, level: Int) {
        self.name = name
        self.level = level
    }

    init?(coder: NSCoder) {
        name = coder.decodeObject(of: NSString.self, forKey: "name").map { "\($0)" } ?? ""
        level = coder.decodeInteger(forKey: "level")
    }

    func encode(with coder: NSCoder) {
        coder.encode(name, forKey: "name")
        coder.encode(level, forKey: "level")
    }
}

extension AnyDefaultsKey {
    static let counter = DefaultsKey("Counter", default: 0)
    static let player = DefaultsKey<Player?>("Player", ofClass: Player.self)
}

/// Steps of which each adds one, and something that each does first.
func count(
    upTo last: Int, _ begin: @escaping @Sendable (_ version: Int) -> Void
) -> [DefaultsMigration] {
    (1...last).map { version in
        DefaultsMigration(to: version) { edits in
            try edits.set((edits.value(of: .counter) ?? 0) + 1, for: .counter)
            begin(version)
        }
    }
}

/// Tells that it is at a place, and waits for a byte on standard input or its end.
func waitToGoOn() {
    print("ready")
    fflush(nil)
    var byte: UInt8 = 0
    read(0, &byte, 1)
}

func store(in name: String) throws {
    guard let old = UserDefaults(suiteName: name) else { return }
    old.set(true, forKey: "Flag")
    old.set(7, forKey: "Count")
    old.set(0.5, forKey: "Real")
    old.set(1.0, forKey: "One")
    old.set("é", forKey: "Text")
    old.set(Data([1, 2]), forKey: "Data")
    old.set(Date(timeIntervalSinceReferenceDate: 60), forKey: "Date")
    old.set(["a", 1, true] as [Any], forKey: "Array")
    old.set(["b": false, "k": [1, 2]] as [String: Any], forKey: "Dictionary")
    let player = try NSKeyedArchiver.archivedData(
        withRootObject: Player(name: "ada", level: 3), requiringSecureCoding: true)
    old.set(player, forKey: "Player")
    old.set(1, forKey: String(repeating: "k", count: 1025))
    guard old.synchronize() else { throw CocoaError(.fileWriteUnknown) }
}

let words = Array(CommandLine.arguments.dropFirst())
do {
    switch (words.first, words.count) {
    case ("count", 3...):
        let fatal = words.dropFirst(3).first
        let steps = count(upTo: Int(words[2]) ?? 1) { version in
            if "\(version)" == fatal { kill(getpid(), SIGKILL) }
        }
        print(try await Defaults(domain: words[1]).migrate(steps))
    case ("race", 3):
        let steps = count(upTo: Int(words[2]) ?? 1) { version in
            if version == 1 { waitToGoOn() }
        }
        print(try await Defaults(domain: words[1]).migrate(steps))
    case ("store", 2):
        try store(in: words[1])
    case ("import", 3):
        let step = DefaultsMigration.importingUserDefaults(named: words[2], to: 1)
        print(try await Defaults(domain: words[1]).migrate([step]))
    case ("player", 2):
        let player = try Defaults(domain: words[1]).value(of: .player)
        print(player.map { "\($0.name), level \($0.level)" } ?? "nobody")
    default:
        print("usage: see the source")
    }
} catch {
    print(error)
    exit(1)
}
