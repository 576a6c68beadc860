import DefaultsRoaming
import RoamingTerms

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
    /// A power cut takes changes of two domains. After that, the service dies when it has looked at one of
    /// them. The changes that were made since in the other one are found nevertheless.
    case deathBetweenLooks = "death-between-looks"
    /// A key begins to roam after it was removed. The service sees that, and the power is cut. If the value
    /// is there again, it roams.
    case removalOfNewKey = "removal-of-new-key"
    /// The service dies before it knows what became of a batch. Meanwhile its key does not roam any more,
    /// gets another value, and roams again. The value is found.
    case choiceInFlight = "choice-in-flight"
    /// More keys are removed than the daemon has removals on record.
    case manyRemovals = "many-removals"
    /// A server that was put back gets again what it has lost, which is no conflict with what it had.
    case restoredServer = "restored-server"
    /// The value that such a server has lost is changed, seen, and changed back.
    case changeBackOfLost = "change-back-of-lost"
    /// The same with a value whose key such a server does not have at all.
    case changeBackOfLostKey = "change-back-of-lost-key"
    /// A server that was put back has lost a removal. The key is set, which is seen, and removed again.
    case changeBackOfLostRemoval = "change-back-of-lost-removal"
    /// A server that was put back has lost a removal, and then gets the value from another machine. The value
    /// does not come back.
    case lostRemoval = "lost-removal"
    /// A server that was put back gets an earlier edit of another machine first, which is kept.
    case earlierEdit = "earlier-edit"
    /// A server that was put back first gets an edit of a value that it has lost. The clock of its machine
    /// was set, so that the edit seems older than the value. The value does not win.
    case successorOfLost = "successor-of-lost"

    /// The conflicts that there have to be.
    var conflicts: Int {
        switch self {
        case .movedClock, .choiceInFlight, .earlierEdit, .successorOfLost, .lostRemoval: 1
        default: 0
        }
    }

    /// In how many of them the earlier edit has to stand.
    var earlierWinners: Int {
        // Nobody knows when a value was set that did not roam.
        self == .choiceInFlight ? 1 : 0
    }
}

extension Torture {
    private static let key = RoamingKey(domain: "org.example.Case", name: "a")

    /// Goes through the steps of a case, with the first two machines.
    func run(_ steps: TortureCase) async throws {
        let (first, second) = (machines[0], machines[1])
        let key = Self.key
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
        case .deathBetweenLooks:
            try await dieBetweenLooks(first)
        case .removalOfNewKey:
            first.choice = try .all(except: key.name)
            try await restart(first)
            try await write(ledger.nextText(), to: key, on: first)
            try await write(ledger.nextText(), to: other(than: key), on: first)
            try await round(first)
            first.choice = second.choice
            try await write(nil, to: key, on: first)
            try await restart(first, interruptedAt: "before pulling")
            try await cutPower(first)
            try await round(first)
        case .choiceInFlight:
            try await write(ledger.nextText(), to: key, on: first)
            try await round(first, interruptedAt: "pushed")
            first.choice = try .all(except: key.name)
            try await round(first)
            try await write(nil, to: key, on: first)
            try await write(ledger.nextText(), to: key, on: first)
            try await round(first)
            first.choice = second.choice
            try await restart(first)
        case .manyRemovals:
            try await removeMany(first, second)
        case .restoredServer, .changeBackOfLost, .changeBackOfLostKey, .changeBackOfLostRemoval,
            .earlierEdit:
            try await runOverBackup(steps, first, second)
        case .lostRemoval:
            try await backUpPlace()
            try await write(ledger.nextText(), to: key, on: first)
            for machine in machines { try await round(machine) }
            try await write(nil, to: key, on: first)
            try await round(first)
            try await restorePlace()
            try await round(first)
            try await round(second)
        case .successorOfLost:
            try await backUpPlace()
            try await write(ledger.nextText(), to: key, on: first)
            for machine in machines { try await round(machine) }
            try await restorePlace()
            try await write(ledger.nextText(), to: key, on: second)
            try await round(second, interruptedAt: "synchronized")
            try await cutPower(second)
            second.skew = 400 * TormentedMachine.day
            try await round(second)
            try await round(first)
        }
    }

    private func other(than key: RoamingKey) -> RoamingKey {
        RoamingKey(domain: key.domain, name: key.name + " other")
    }

    /// A round of a new process.
    private func restart(
        _ machine: TormentedMachine, interruptedAt step: String? = nil
    ) async throws {
        machine.roamer = nil
        if let step {
            try await round(machine, interruptedAt: step)
        } else {
            try await round(machine)
        }
    }

    private func dieBetweenLooks(_ machine: TormentedMachine) async throws {
        let (early, late) = (Self.key, RoamingKey(domain: "org.example.One", name: "a"))
        try await write(ledger.nextText(), to: late, on: machine)
        try await write(ledger.nextText(), to: other(than: early), on: machine)
        try await round(machine)
        // The service has seen these, and the power cut takes them.
        try await write(ledger.nextText(), to: early, on: machine)
        for _ in 0..<8 { try await write(ledger.nextText(), to: late, on: machine) }
        try await round(machine, interruptedAt: "before pulling")
        try await cutPower(machine)
        // The generations of these are in part those of the changes that are gone.
        try await write(ledger.nextText(), to: early, on: machine)
        try await write(nil, to: early, on: machine)
        try await write(ledger.nextText(), to: late, on: machine)
        for _ in 0..<16 {
            try await write(ledger.nextText(), to: other(than: early), on: machine)
        }
        try await round(machine, interruptedAt: "synchronized")
        try await round(machine)
    }

    private func removeMany(
        _ first: TormentedMachine, _ second: TormentedMachine
    ) async throws {
        let keys = (0..<2300).map { RoamingKey(domain: Self.key.domain, name: "\($0)") }
        for key in keys { try await write(ledger.nextText(), to: key, on: first) }
        try await round(first)
        try await round(second)
        for key in keys { try await write(nil, to: key, on: first) }
        try await round(first)
        try await round(second)
    }

    /// Steps over a server that is put back.
    private func runOverBackup(
        _ steps: TortureCase, _ first: TormentedMachine, _ second: TormentedMachine
    ) async throws {
        let key = Self.key
        if steps != .changeBackOfLostKey {
            try await write(ledger.nextText(), to: key, on: first)
            for machine in machines { try await round(machine) }
        }
        try await backUpPlace()
        if steps == .earlierEdit { try await write(ledger.nextText(), to: key, on: second) }
        let lost = steps == .changeBackOfLostRemoval ? nil : ledger.nextText()
        try await write(lost, to: key, on: first)
        try await round(first)
        try await restorePlace()
        switch steps {
        case .earlierEdit:
            try await round(second)
        case .changeBackOfLost, .changeBackOfLostKey, .changeBackOfLostRemoval:
            try await round(first, interruptedAt: "synchronized")
            try await write(ledger.nextText(), to: key, on: first)
            try await round(first, interruptedAt: "before pulling")
            if let lost {
                try await first.changeBack(to: lost, key)
                ledger.noteChangeBack(of: key)
                await first.roamer?.noteMissedChanges()
            } else {
                try await write(nil, to: key, on: first)
            }
            try await round(first, interruptedAt: "before pulling")
        default:
            break
        }
        try await round(first)
        try await round(second)
    }
}
