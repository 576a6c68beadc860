import ArgumentParser

/// How a list of names is printed.
struct NameList: ParsableArguments {
    @Flag(help: "Print a JSON array.")
    var json = false

    @Flag(
        name: [.customShort("0"), .customLong("null")],
        help: "End each name with a NUL instead of a line break.")
    var null = false

    /// Whether the output is for programs.
    var isForPrograms: Bool { json || null }

    func validate() throws {
        guard !json || !null else { throw ValidationError("Give --json or -0, not both.") }
    }

    /// Prints the names.
    ///
    /// On a terminal, control characters are escaped.
    func print(_ names: [String]) throws {
        if json {
            let quoted = try names.map { try $0.quoted }
            try SafeOutput.print(json: "[\(quoted.joined(separator: ","))]")
        } else {
            let isTerminal = Defaultsctl.console.isTerminal(.output)
            let end = null ? "\0" : "\n"
            for name in names {
                try StandardOutput.write("\(isTerminal ? name.onOneLine : name)\(end)".utf8)
            }
            try StandardOutput.flush()
        }
    }
}
