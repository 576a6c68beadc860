import Glibc
import SystemCalls

/// What people call a program.
enum ProgramName {
    /// The most bytes that are read of a process's arguments.
    private static let mostBytes = 4096
    /// The most bytes of a name.
    private static let longest = 255
    /// How the names of interpreters begin, of which the script is what people know.
    private static let interpreters = [
        "bash", "dash", "fish", "gjs", "guile", "lua", "node", "perl", "php", "python", "ruby",
        "sh",
        "tclsh", "zsh",
    ]

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
        guard isInterpreter(program),
            // Options and what belongs to them cannot be told apart, except for modules and commands.
            let script = arguments.dropFirst().first(where: { !$0.hasPrefix("-") }),
            !arguments.dropFirst().prefix(while: { $0.hasPrefix("-") })
                .contains(where: { $0 == "-c" || $0 == "-e" })
        else { return program }
        return name(script)
    }

    private static func isInterpreter(_ name: String) -> Bool {
        interpreters.contains { interpreter in
            name.hasPrefix(interpreter)
                && name.dropFirst(interpreter.count).allSatisfy { "0123456789.-_".contains($0) }
        } || name == "gjs-console"
    }

    /// The last part of a path.
    private static func name(_ path: String) -> String {
        let last = path.split(separator: "/").last.map(String.init) ?? ""
        return last.utf8.count <= longest ? last : String(last.prefix(longest / 4))
    }
}
