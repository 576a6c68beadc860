import ArgumentParser

/// On what a change depends, and when it is done.
struct ChangeOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Change nothing unless the key still has this generation; 0 is a key that is not there.",
            valueName: "number"))
    var ifGeneration: UInt64?

    @Flag(help: "Wait until the change is on disk.")
    var wait = false
}
