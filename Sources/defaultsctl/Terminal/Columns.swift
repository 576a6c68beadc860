/// Rows of words in columns, each as wide as its widest word.
struct Columns {
    /// For each column, whether its words are aligned to the right, as numbers are.
    let areNumbers: [Bool]
    var rows: [[String]] = []

    init(areNumbers: [Bool]) {
        self.areNumbers = areNumbers
    }

    /// Columns with headings, for people: in a pipe, each line is a row.
    init(headings: [String], areNumbers: [Bool]) {
        self.init(areNumbers: areNumbers)
        if Defaultsctl.console.isTerminal(.output) { self.headings = headings }
    }

    /// The words above the columns; empty if there are none.
    private var headings: [String] = []

    var lines: [String] {
        guard !rows.isEmpty else { return [] }
        let rows = (headings.isEmpty ? [] : [headings]) + rows
        let widths = areNumbers.indices.map { column in
            rows.map { $0[column].count }.max() ?? 0
        }
        return rows.map { row in
            let cells = row.indices.map { column in
                let space = String(repeating: " ", count: widths[column] - row[column].count)
                if areNumbers[column] { return space + row[column] }
                return column == row.count - 1 ? row[column] : row[column] + space
            }
            return cells.joined(separator: "  ")
        }
    }
}

/// Amounts as text for people.
enum Amount {
    /// A number of bytes, in the unit that leaves up to three digits before the point.
    static func bytes(_ count: UInt64) -> String {
        guard count >= 1024 else { return "\(count) B" }
        let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
        var (value, unit) = (Double(count) / 1024, 0)
        while value >= 1000, unit < units.count - 1 {
            (value, unit) = (value / 1024, unit + 1)
        }
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }

    /// A number of seconds, in the two largest units.
    static func time(_ seconds: UInt64) -> String {
        switch seconds {
        case ..<60: "\(seconds) s"
        case ..<3600: "\(seconds / 60) min \(seconds % 60) s"
        case ..<86400: "\(seconds / 3600) h \(seconds % 3600 / 60) min"
        default: "\(seconds / 86400) d \(seconds % 86400 / 3600) h"
        }
    }
}
