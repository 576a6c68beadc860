import Glibc
import SystemCalls

/// What people call a program.
enum ProgramName {
    /// The most bytes that are read of a process's arguments.
    private static let mostBytes = 4096
    /// The most bytes of a name.
    private static let longest = 255
    /// The interpreters, of which the script is what people know: how their names begin, and the letters of
    /// options with which they run no script, but a text in the command line or standard input.
    private static let interpreters = [
        "bash": "cs", "dash": "cs", "fish": "c", "gjs": "c", "guile": "ce", "lua": "e",
        "node": "ep", "perl": "eE", "php": "rBRE", "python": "c", "ruby": "e", "sh": "cs",
        "tclsh": "", "zsh": "cs",
    ]
    /// The same as words, with or without the text after an equals sign.
    private static let longOptions = ["--command", "--eval", "--print", "--run"]

    /// The name of the program that a process runs; empty if the system does not say.
    static func of(_ process: UInt32) -> String {
        let file = Path.target(ofLink: "/proc/\(process)/exe") ?? ""
        let arguments =
            (try? File("/proc/\(process)/cmdline", O_RDONLY).read(mostBytes, at: 0))
            .map { $0.split(separator: 0).map { String(decoding: $0, as: UTF8.self) } } ?? []
        return of(file, arguments)
    }

    /// The name of a program by the path of its file and its arguments.
    static func of(_ file: String, _ arguments: [String]) -> String {
        // The file was replaced while it ran.
        let replaced = " (deleted)"
        let program = name(file.hasSuffix(replaced) ? String(file.dropLast(replaced.count)) : file)
        let words = arguments.dropFirst()
        // Options and what belongs to them cannot be told apart.
        let options = words.prefix { $0.hasPrefix("-") }
        guard let letters = textOptions(ofInterpreter: program),
            let script = words.dropFirst(options.count).first,
            !options.contains(where: { runsText($0, letters) })
        else { return program }
        return name(script)
    }

    /// The letters of options with which an interpreter runs no script; nil if the program is none.
    private static func textOptions(ofInterpreter name: String) -> String? {
        if name == "gjs-console" { return interpreters["gjs"] }
        return interpreters.first { interpreter, _ in
            name.hasPrefix(interpreter)
                && name.dropFirst(interpreter.count).allSatisfy { "0123456789.-_".contains($0) }
        }?.value
    }

    /// Whether an interpreter with this option may run no script.
    ///
    /// Letters can be in one word, as in `bash -lc`. If a word has such a letter by chance, the interpreter is
    /// named, because a text in the command line may have anything in it.
    private static func runsText(_ option: String, _ letters: String) -> Bool {
        if option == "-" { return true }
        guard !option.hasPrefix("--") else {
            return longOptions.contains { option == $0 || option.hasPrefix("\($0)=") }
        }
        return option.contains { letters.contains($0) }
    }

    /// The last part of a path.
    private static func name(_ path: String) -> String {
        let last = path.split(separator: "/").last.map(String.init) ?? ""
        // A character can have any number of scalars, and a scalar four bytes.
        return last.utf8.count <= longest
            ? last : String(last.unicodeScalars.prefix(longest / 4))
    }
}
