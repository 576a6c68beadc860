import DefaultsClient
import Glibc
import Observation

// The options of a game, which all of the program shares.
//
//     GameOptions                    shows them
//     GameOptions sound off          changes one
//     GameOptions music on
//     GameOptions watch              shows them now and after each change

func show(_ options: GameOptions) {
    print("sound \(options.playSound ? "on" : "off"), music \(options.playMusic ? "on" : "off")")
}

switch Array(CommandLine.arguments.dropFirst()) {
case []: show(GameOptions.shared.value)
case ["sound", "on"]: GameOptions.shared.value.playSound = true
case ["sound", "off"]: GameOptions.shared.value.playSound = false
case ["music", "on"]: GameOptions.shared.value.playMusic = true
case ["music", "off"]: GameOptions.shared.value.playMusic = false
case ["watch"]:
    for await options in Observations({ GameOptions.shared.value }) {
        show(options)
        // Also where nobody sees it but a program at the other end of a pipe.
        fflush(nil)
    }
default: print("usage: GameOptions [sound on|off | music on|off | watch]")
}
