import Foundation

/// What was measured, as tables.
struct Report {
    let options: FleetOptions
    let stages: [Stage]
    /// Bytes on disk for a key.
    let keySize: Double

    var lines: [String] {
        stages.flatMap(lines) + [
            "", "A key takes \(Self.amount(keySize)) bytes on disk, with its indexes.",
        ] + scaleLines
    }

    private func lines(of stage: Stage) -> [String] {
        let title =
            switch stage.waiting {
            case .listen: "The server announces changes"
            case .poll: "Machines ask"
            case .pool: "Machines ask through a pooler with \(options.sessions) sessions"
            }
        var lines = ["", "\(title): \(options.users) users, \(stage.machines) machines"]
        lines += Self.table(
            ["", "requests", "p50", "p90", "p99", "server", "pooler"],
            Operation.allCases.compactMap { row($0, stage.samples) })
        lines.append(
            "A machine that is on takes \(Self.size(stage.machineMemory)) of memory, and all processes take "
                + "\(Self.size(stage.memory)) without the shared buffers. An edit "
                + "writes \(Self.size(stage.laterWAL)) of WAL, "
                + "and \(Self.size(stage.firstWAL)) after a checkpoint.")
        if let idle = stage.idle {
            lines.append(
                "\(Self.amount(idle.pollsPerSecond)) polls a second take "
                    + "\(Self.amount(idle.server)) processors of the server and "
                    + "\(Self.amount(idle.pooler)) of the pooler; at the end, machines are "
                    + "\(Self.time(idle.lateness)) behind.")
        }
        lines.append(
            "\(stage.pushes) batches were pushed, and \(stage.losers) edits lost to others. "
                + "Users whose machines differ: \(stage.differing).")
        return lines
    }

    private func row(_ operation: Operation, _ samples: Samples) -> [String]? {
        guard let median = samples.quantile(0.5, of: operation),
            let late = samples.quantile(0.9, of: operation),
            let last = samples.quantile(0.99, of: operation)
        else { return nil }
        return [
            operation.rawValue, "\(samples.count(operation))", Self.time(median), Self.time(late),
            Self.time(last), samples.serverCost(of: operation).map(Self.time) ?? "",
            samples.poolerCost(of: operation).map { $0 > 0 ? Self.time($0) : "" } ?? "",
        ]
    }

    // MARK: The arithmetic

    /// Numbers of users, and of their machines that are on.
    private static let sizes = [(1e4, 1e3), (1e5, 1e4), (1e6, 1e5), (1e8, 3e7)]

    private var scaleLines: [String] {
        stages.flatMap { stage -> [String] in
            guard stage.waiting != .listen, let costs = costs(of: stage) else { return [] }
            let rows = Self.sizes.flatMap { users, machines in
                [30.0, 300].map { interval in
                    let scale = Scale(users: users, machines: machines, interval: interval)
                    let need = scale.need(costs)
                    return [
                        Self.amount(users), Self.amount(machines), Self.time(interval),
                        Self.amount(scale.pushes), Self.amount(scale.polls),
                        Self.amount(need.processors), Self.size(need.memory), Self.size(need.disk),
                        Self.size(need.wal), "\(scale.servers(costs))",
                    ]
                }
            }
            let way =
                stage.waiting == .pool ? "through the pooler" : "over connections of their own"
            return ["", "By arithmetic, if machines ask \(way):"]
                + Self.table(
                    [
                        "users", "on", "each", "pushes/s", "polls/s", "processors", "memory",
                        "disk", "WAL/day", "servers",
                    ], rows)
        }
    }

    private func costs(of stage: Stage) -> Scale.Costs? {
        func cost(_ operation: Operation) -> Double? {
            let samples = stage.samples
            return samples.serverCost(of: operation).map {
                $0 + (samples.poolerCost(of: operation) ?? 0)
            }
        }
        guard let push = cost(.push), let poll = cost(.poll), let logIn = cost(.logIn) else {
            return nil
        }
        return Scale.Costs(
            push: push, poll: poll, logIn: logIn, machine: stage.machineMemory,
            edit: stage.firstWAL, key: keySize)
    }

    // MARK: Words

    /// Rows of words, the first column to the left and the others to the right.
    static func table(_ header: [String], _ rows: [[String]]) -> [String] {
        let widths = header.indices.map { column in
            ([header] + rows).map { $0[column].count }.max() ?? 0
        }
        return ([header] + rows).map { row in
            zip(row, widths).enumerated().map { column, cell in
                let space = String(repeating: " ", count: cell.1 - cell.0.count)
                return column == 0 ? cell.0 + space : space + cell.0
            }.joined(separator: "  ")
        }
    }

    static func time(_ seconds: Double) -> String {
        switch seconds {
        case 1...: "\(amount(seconds)) s"
        case 1e-3..<1: "\(amount(seconds * 1e3)) ms"
        default: "\(amount(seconds * 1e6)) us"
        }
    }

    static func size(_ bytes: Double) -> String {
        let units = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")]
        for (size, unit) in units where bytes >= size { return "\(amount(bytes / size)) \(unit)" }
        return "\(amount(bytes)) B"
    }

    /// A number with three digits.
    static func amount(_ number: Double) -> String {
        guard abs(number) < 1000 else {
            return String(Int(number.rounded()))
        }
        return String(format: "%.3g", number)
    }
}
