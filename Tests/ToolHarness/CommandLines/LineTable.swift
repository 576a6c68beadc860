import Foundation

/// A table of command lines as a shell has them.
enum LineTable {
    /// The rows, as fields between bars.
    static func rows(_ table: String) -> [[String]] {
        table.split(separator: "\n").map { line in
            line.split(separator: "|", omittingEmptySubsequences: false).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
        }
    }

    /// Whether only a shell can run a row: it has a variable, or what another command prints.
    static func needsShell(_ row: [String]) -> Bool {
        row.contains { $0.contains("$(") || $0.contains("${") }
    }
}
