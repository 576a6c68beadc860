import ArgumentParser
import KeyedArchive
import PropertyList

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

    /// Refuses a value that cannot be stored before the service is asked for anything.
    func validate() throws {
        let given = [bool, int, float, string, json].compactMap(\.self)
        guard given.count == 1 else {
            throw ValidationError(
                "Give one value: -bool, -int, -float, -string or --json, and what to store.")
        }
        _ = try archive()
    }

    /// The archive of the value.
    func archive() throws -> KeyedArchive {
        if let json { return try archive(ofJSON: json) }
        var builder = ValueFormBuilder()
        if let bool { try builder.boolean(boolean(bool)) }
        if let int { try builder.integer(Self.number(int, "an integer, such as 42 or -7")) }
        if let float { try builder.real(Self.real(float)) }
        if let string { try builder.string(Text(string)) }
        return builder.finish()
    }

    private func archive(ofJSON json: String) throws -> KeyedArchive {
        do {
            return try KeyedArchive(json: json)
        } catch {
            throw ValidationError("--json: \(error)")
        }
    }

    private func boolean(_ word: String) throws -> Bool {
        switch word.lowercased() {
        case "true", "yes", "1": true
        case "false", "no", "0": false
        default: throw ValidationError("'\(word)' is not a boolean: true, false, yes, no, 1 or 0.")
        }
    }

    private static func number<Number: LosslessStringConvertible>(
        _ word: String, _ what: String
    ) throws -> Number {
        guard let number = Number(word) else { throw ValidationError("'\(word)' is not \(what).") }
        return number
    }

    /// A real number; digits that are too large for one are not taken for infinity.
    private static func real(_ word: String) throws -> Double {
        let number: Double = try number(word, "a real number, such as 1.5 or 2e3")
        guard number.isFinite || !word.contains(where: \.isNumber) else {
            throw ValidationError("'\(word)' is larger than any real number.")
        }
        return number
    }
}
