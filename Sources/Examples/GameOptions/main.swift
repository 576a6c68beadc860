import DefaultsClient
import ExampleSupport
import Glibc
import Observation

// The options of a game, which all of the program shares, and the levels that were reached.

let usage = """
    usage: GameOptions                          shows the options
           GameOptions sound on|off             changes one
           GameOptions music on|off
           GameOptions watch                    shows them now and after each change
           GameOptions load FILE                replaces them by those of a file
           GameOptions save FILE                writes them into a file
           GameOptions levels                   shows the levels that were reached
           GameOptions reach LEVEL from LEVEL   notes that a level was reached
    """

func show(_ options: GameOptions) {
    print("sound \(options.playSound ? "on" : "off"), music \(options.playMusic ? "on" : "off")")
}

func isOn(_ word: String) throws -> Bool {
    switch word {
    case "on": true
    case "off": false
    default: throw WrongUsage()
    }
}

await runProgram(usage: usage) { words in
    /// The defaults, which a wrong command line does not touch.
    func defaults() throws -> Defaults {
        try GameOptions.shared.defaults.requireService()
        return GameOptions.shared.defaults
    }
    switch (words.first, words.count) {
    case (nil, _): show(try defaults().value(of: .gameOptions))
    case ("sound", 2):
        let isOn = try isOn(words[1])
        try await GameOptions.save { $0.playSound = isOn }
    case ("music", 2):
        let isOn = try isOn(words[1])
        try await GameOptions.save { $0.playMusic = isOn }
    case ("watch", 1):
        await tellIfAlone(try defaults())
        await watch()
    case ("load", 2): try await GameOptions.load(from: words[1])
    case ("save", 2): try GameOptions.write(to: words[1])
    case ("levels", 1):
        for level in try defaults().value(of: .levels).all {
            let indentation = String(repeating: "  ", count: level.depth)
            print(indentation + level.name + (level.parent.map { ", from \($0.name)" } ?? ""))
        }
    case ("reach", 4) where words[2] == "from":
        try await Level.save(words[1], reachedFrom: words[3])
    default: throw WrongUsage()
    }
}

/// Says that changes of other programs are not announced, if that is so.
///
/// It waits until that is known: on a busy machine the search for the service may outlast the first read.
func tellIfAlone(_ defaults: Defaults) async {
    for await state in defaults.states {
        switch state {
        case .connecting: continue
        case .privateDaemon, .unreachable:
            tell(
                "No defaults service is reached in this session, so changes of other programs are "
                    + "not seen here. `defaultsctl doctor` says what to do.")
        case .current, .following, .inMemory: break
        }
        return
    }
}

/// Shows the options until the program is ended.
///
/// If they cannot be read, the default is shown, and the library says why on standard error.
@MainActor func watch() async {
    for await options in Observations({ GameOptions.shared.value }) {
        show(options)
        // Also if the output is a pipe.
        fflush(nil)
    }
}
