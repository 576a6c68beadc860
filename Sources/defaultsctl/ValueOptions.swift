import ArgumentParser
import KeyedArchive

/// The value of a `write`, given by exactly one option that names its type.
struct ValueOptions: ParsableArguments {
    @Option(
        name: .customLong("bool", withSingleDash: true), parsing: .unconditional,
        help: ArgumentHelp("A boolean: true, false, yes, no, 1 or 0.", valueName: "value"))
    var bool: String?

    @Option(
        name: .customLong("int", withSingleDash: true), parsing: .unconditional,
        help: ArgumentHelp("An integer.", valueName: "value"))
    var int: String?

    @Option(
        name: .customLong("float", withSingleDash: true), parsing: .unconditional,
        help: ArgumentHelp("A real number.", valueName: "value"))
    var float: String?

    @Option(
        name: .customLong("string", withSingleDash: true), parsing: .unconditional,
        help: ArgumentHelp("A string.", valueName: "value"))
    var string: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Any value or object, as JSON.", valueName: "value"))
    var json: String?

    func validate() throws {
        let given = [bool, int, float, string, json].compactMap(\.self)
        guard given.count == 1 else {
            throw ValidationError(
                "Give one value: -bool, -int, -float, -string or --json, with what to store.")
        }
        _ = try archive()
    }

    /// The archive of the value.
    func archive() throws -> KeyedArchive {
        ...
    }
}
