import DefaultsFiles

/// What `lint` has to say of a file.
struct LintFinding {
    enum Severity: String {
        /// The file, or a part of it, is not taken.
        case error
        /// Something is ignored, or is perhaps not meant.
        case warning
    }

    let severity: Severity
    let problem: LayerProblem

    init(_ severity: Severity, _ problem: LayerProblem) {
        self.severity = severity
        self.problem = problem
    }

    /// Takes what a listing tells: names that are ignored are no error.
    init(listed problem: LayerProblem) {
        self.init(problem.code == .badName ? .warning : .error, problem)
    }

    /// One line, as compilers have it.
    var text: String {
        let place = [problem.line, problem.column].compactMap { $0 }.map { ":\($0)" }.joined()
        return "\(problem.path)\(place): \(severity.rawValue): \(problem.reason)".onOneLine
    }

    func json() throws -> String {
        try ShownJSON.object([
            ("path", problem.path.quoted), ("line", problem.line.map { "\($0)" } ?? "null"),
            ("column", problem.column.map { "\($0)" } ?? "null"),
            ("severity", severity.rawValue.quoted), ("code", problem.code.name.quoted),
            ("reason", problem.reason.quoted),
        ])
    }
}

extension LintFinding: Comparable {
    private var place: (String, Int, Int) {
        (problem.path, problem.line ?? 0, problem.column ?? 0)
    }

    static func < (one: LintFinding, other: LintFinding) -> Bool { one.place < other.place }

    static func == (one: LintFinding, other: LintFinding) -> Bool { one.place == other.place }
}
