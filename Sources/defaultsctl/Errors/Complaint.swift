@preconcurrency import Glibc

/// What the tool says on standard error.
enum Complaint {
    /// Says a sentence, on one line; of long words of the command line it has the beginning alone.
    static func say(_ sentence: String) {
        // What was printed before comes first also where both go to the same file.
        fflush(stdout)
        fputs("defaultsctl: \(inBrief(sentence.onOneLine))\n", stderr)
    }

    private static func inBrief(_ line: String) -> String {
        let values = CommandLine.arguments.dropFirst().flatMap { word in
            // The value of an option, --option=value, is told without it.
            [word] + (word.firstIndex(of: "=").map { [String(word[$0...].dropFirst())] } ?? [])
        }
        return values.map(\.onOneLine).reduce(line) { line, word in
            let brief = word.inBrief
            return brief == word ? line : line.replacing(word, with: brief)
        }
    }
}

extension String {
    /// On one line, and of what is long only the beginning.
    var inBrief: String { onOneLine.cut(to: 100) }

    /// The first so many characters, and a mark where more follow.
    func cut(to longest: Int) -> String {
        count > longest ? "\(prefix(longest))…" : self
    }
}

extension String {
    /// The name of a file as it stands in a sentence, on one line.
    var fileTitle: String { isEmpty ? "''" : onOneLine }
}
