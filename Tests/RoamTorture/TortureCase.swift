import DefaultsRoaming

/// Steps in a fixed order, for parts of the algorithm that random steps seldom need.
enum TortureCase: String {
    /// A service dies after its daemon has stored a version, and before it notes that. Meanwhile the
    /// other machine changes the value again. What the daemon stored is no edit of this machine.
    case deathAfterStoring = "death-after-storing"
    /// The machine with the earlier edit has a clock that is 400 days ahead, and then 400 days behind.
    case movedClock = "moved-clock"
    /// A value is on disk and was not pushed yet. It is removed, the service sees that, and the power is
    /// cut. If the value is there again, it is an edit again.
    case changeBack = "change-back"

    /// The conflicts that there have to be.
    var conflicts: Int {
        switch self {
        case .deathAfterStoring, .changeBack: 0
        case .movedClock: 1
        }
    }
}

extension Torture {
    /// Goes through the steps of a case, with the first two machines.
    func run(_ steps: TortureCase) async throws {
        let (first, second) = (machines[0], machines[1])
        let key = RoamingKey(domain: "org.example.Case", name: "a")
        for machine in machines { try await round(machine) }
        switch steps {
        case .deathAfterStoring:
            try await write(ledger.nextText(), to: key, on: first)
            try await round(first)
            try await round(second, interruptedAt: "stored")
            try await write(ledger.nextText(), to: key, on: first)
            try await round(first)
            try await round(second)
        case .movedClock:
            first.skew = 400 * TormentedMachine.day
            try await write(ledger.nextText(), to: key, on: first)
            first.skew = -first.skew
            try await write(ledger.nextText(), to: key, on: second)
            try await round(first)
            try await round(second)
        case .changeBack:
            try await write(ledger.nextText(), to: key, on: first)
            try await round(first)
            try await write(ledger.nextText(), to: key, on: second)
            try await round(second, interruptedAt: "synchronized")
            try await write(nil, to: key, on: second)
            try await round(second, interruptedAt: "before pulling")
            try await cutPower(second)
            try await round(second)
        }
    }
}
