import TestSupport

/// A time in which machines ask and make edits, each at moments of its own.
struct Day {
    private struct Event {
        let moment: Double
        let machine: Int
        let errand: FleetMachine.Errand
    }

    private let machines: [FleetMachine]
    private let events: [Event]

    /// Makes up what happens.
    ///
    /// - Parameters:
    ///   - machines: The machines.
    ///   - interval: How often each of them asks, in seconds; nil if it does not.
    ///   - seconds: How long.
    ///   - edits: How many edits all of them make.
    ///   - keys: How many keys a user has.
    ///   - random: Decides when and where.
    init(
        _ machines: [FleetMachine], polling interval: Double?, for seconds: Double, edits: Int,
        of keys: Int, using random: inout SeededGenerator
    ) {
        self.machines = machines
        var events: [Event] = []
        if let interval {
            for machine in machines.indices {
                // Real machines do not ask at the same moment.
                var moment = Double.random(in: 0..<interval, using: &random)
                while moment < seconds {
                    events.append(Event(moment: moment, machine: machine, errand: .poll))
                    moment += interval
                }
            }
        }
        for _ in 0..<edits {
            events.append(
                Event(
                    moment: .random(in: 0..<seconds, using: &random),
                    machine: .random(in: machines.indices, using: &random),
                    errand: .edit(key: .random(in: 0..<keys, using: &random))))
        }
        self.events = events.sorted { $0.moment < $1.moment }
    }

    /// Lets it pass; each machine does one thing after the other.
    ///
    /// - Parameter rest: How long to wait at the end for what was announced last.
    func pass(rest: Duration = .zero) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for machine in machines {
                let errands = machine.takeErrands()
                group.addTask {
                    for await errand in errands { try await machine.run(errand) }
                }
            }
            let start = ContinuousClock.now
            for event in events {
                try await Task.sleep(until: start + .seconds(event.moment), clock: .continuous)
                machines[event.machine].send(event.errand)
            }
            try await Task.sleep(for: rest)
            for machine in machines { machine.send(nil) }
            try await group.waitForAll()
        }
    }
}
