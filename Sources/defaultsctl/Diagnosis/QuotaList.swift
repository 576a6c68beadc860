import DefaultsClient

/// Who uses much of what may be stored.
struct QuotaList {
    private let quotas: [RemoteQuota]

    /// - Parameter quotas: The nearest to its bound first.
    init(_ quotas: [RemoteQuota]) {
        self.quotas = quotas
    }

    /// One line for each of the first.
    func lines(longest: Int) -> [String] {
        var columns = Columns(areNumbers: [true, false, false, false])
        columns.rows = quotas.prefix(longest).map {
            ["\($0.percentage) %", $0.bound, $0.shownName, "\($0.used) of \($0.limit)"]
        }
        return columns.lines
    }

    /// The first, in a line with other facts.
    var summary: String {
        guard let first = quotas.first else { return "nobody is near a bound" }
        let others =
            quotas.count > 1 ? ", and \(quotas.count - 1) more: run 'defaultsctl stats'" : ""
        return "\(first.shownName) uses \(first.percentage) % of \(first.bound)\(others)"
    }

    /// The first as JSON objects.
    func json(longest: Int) throws -> [String] {
        try quotas.prefix(longest).map {
            try ShownJSON.object([
                ("name", $0.name.quoted), ("bound", $0.bound.quoted), ("used", "\($0.used)"),
                ("limit", "\($0.limit)"),
            ])
        }
    }
}

extension RemoteQuota {
    /// The name for people.
    fileprivate var shownName: String { name == "*" ? "all programs" : name.onOneLine }
}
