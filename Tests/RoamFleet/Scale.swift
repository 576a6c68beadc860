/// What a number of users needs, by what was measured.
struct Scale {
    /// What one thing costs, as it was measured.
    struct Costs {
        /// Seconds of a processor for a push of one key.
        var push: Double
        /// Seconds of a processor for a poll, with the pooler's.
        var poll: Double
        /// Seconds of a processor for a log-in.
        var logIn: Double
        /// Bytes of memory for a machine that is on.
        var machine: Double
        /// Bytes of WAL for an edit.
        var edit: Double
        /// Bytes on disk for a key.
        var key: Double
    }

    /// What users do.
    struct Habits {
        var keys = 300.0
        /// Edits of a user on a day.
        var edits = 50.0
        /// How much more the busiest hour has than the mean.
        var peak = 5.0
        /// Within how many seconds all machines are switched on.
        var morning = 1800.0
    }

    let users: Double
    /// How many machines are on at the same time.
    let machines: Double
    /// How often a machine asks, in seconds.
    let interval: Double
    var habits = Habits()

    /// What a server can be asked for: half of 16 processors, 1 TB of data, and 64 GB for connections.
    static let server = Need(processors: 8, memory: 64e9, disk: 1e12, wal: .infinity)

    /// What all servers have to have.
    struct Need: Equatable {
        /// At the busiest time.
        var processors: Double
        /// For connections.
        var memory: Double
        var disk: Double
        /// On a day.
        var wal: Double
    }

    /// Pushes a second at the busiest time.
    var pushes: Double { users * habits.edits * habits.peak / 86400 }
    /// Polls a second.
    var polls: Double { machines / interval }

    func need(_ costs: Costs) -> Need {
        let logIns = machines / habits.morning
        return Need(
            processors: pushes * costs.push + polls * costs.poll + logIns * costs.logIn,
            memory: machines * costs.machine, disk: users * habits.keys * costs.key,
            wal: users * habits.edits * costs.edit)
    }

    /// How many servers of the size of ``server`` are enough.
    func servers(_ costs: Costs) -> Int {
        let need = need(costs)
        let parts = [
            need.processors / Self.server.processors, need.memory / Self.server.memory,
            need.disk / Self.server.disk,
        ]
        return max(Int((parts.max() ?? 1).rounded(.up)), 1)
    }
}
