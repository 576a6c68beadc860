import ArgumentParser
@preconcurrency import Glibc

/// How a list of names is printed.
struct NameList: ParsableArguments {
    @Flag(help: "Print a JSON array.")
    var json = false

    @Flag(
        name: [.customShort("0"), .customLong("null")],
        help: "End each name with a NUL in the place of a line break.")
    var null = false

    /// Whether a form for programs is asked for.
    var isForPrograms: Bool { json || null }

    func validate() throws {
        guard !json || !null else { throw ValidationError("Give --json or -0, not both.") }
    }

    /// Prints the names as they are, and on a terminal each on one line.
    func print(_ names: [String]) throws {
        if json {
            let quoted = try names.map { try $0.quoted }
            Swift.print("[\(quoted.joined(separator: ","))]")
        } else if null {
            for name in names { Swift.print(name, terminator: "\0") }
        } else {
            let isTerminal = isatty(STDOUT_FILENO) == 1
            for name in names { Swift.print(isTerminal ? name.onOneLine : name) }
        }
    }
}
