import DBus
import DefaultsClient
import DefaultsRoaming
import Foundation
import KeyedArchive
import RoamingTerms
import TestSupport

/// Random steps of some machines, and what was wrong at the end.
final class Torture: @unchecked Sendable {
    private static let domains =
        ["org.example.One", "org.example.Two"] + (0..<lateDomains).map { "org.example.Late\($0)" }
        + ["org.example.Case"]
    /// The domains that appear one after the other, also in the middle of a round.
    private static let lateDomains = 8
    /// How many writes there are between two such domains.
    private static let lateness = 20
    /// The steps at which everything is on the disk.
    private static let durableSteps: Set = ["settled", "stored", "synchronized", "noting losers"]
    private static let keys = ["a", "b", "c", "d"]
    /// What is put back to an earlier state: of both together, some values would be nowhere any more.
    private enum PutBack {
        case place
        case machines
    }
    /// How often something happens at a step inside of a round, in per cent.
    private let chance: Int
    private let cutsPower: Bool
    private let movesClocks: Bool
    private let putBack: PutBack

    private var random: SeededGenerator
    private let loop: EventLoop
    private let place: any TormentedPlace
    private(set) var machines: [TormentedMachine] = []
    var ledger = Ledger()
    private(set) var events: [String: Int] = [:]
    private var depth = 0
    /// The step at which the next round ends, as if the process died.
    private var deadlyStep: String?
    /// Copies of disks, with the machine of each.
    private var copies: [(machine: Int, path: String)] = []
    private var isAnyPutBack = false
    private let isVerbose: Bool
    /// What has happened.
    private(set) var story: [String] = []

    init(
        seed: UInt64, chance: Int = 8, cutsPower: Bool = true, movesClocks: Bool = true,
        isVerbose: Bool = false, on loop: EventLoop, meetingAt place: any TormentedPlace
    ) {
        random = SeededGenerator(seed: seed)
        self.chance = chance
        self.cutsPower = cutsPower
        self.movesClocks = movesClocks
        putBack = seed.isMultiple(of: 2) ? .place : .machines
        self.isVerbose = isVerbose
        self.loop = loop
        self.place = place
    }

    /// Makes the machines.
    func begin(_ count: Int, programs: String) async throws {
        for number in 0..<count {
            machines.append(try await TormentedMachine(number, programs: programs, on: loop))
        }
    }

    /// Does random steps; each machine has a value of its own that was there before.
    func run(steps: Int) async throws {
        for machine in machines { try await edit(machine) }
        for _ in 0..<steps { try await step() }
    }

    private func step() async throws {
        guard let machine = machines.randomElement(using: &random) else { return }
        switch Int.random(in: 0..<100, using: &random) {
        case ..<50: try await edit(machine)
        case ..<85: try await round(machine)
        case ..<93: try await place.disturb()
        default: try await misfortune(machine)
        }
    }

    private func edit(_ machine: TormentedMachine) async throws {
        let late = min(Self.lateDomains, ledger.writes.count / Self.lateness)
        let known = Self.domains.prefix(2) + Self.domains.dropFirst(2).prefix(late).suffix(1)
        guard let domain = known.randomElement(using: &random),
            let name = Self.keys.randomElement(using: &random)
        else { return }
        let key = RoamingKey(domain: domain, name: name)
        let text = Int.random(in: 0..<6, using: &random) == 0 ? nil : ledger.nextText()
        // The signal may come late, or never if the daemon dies.
        try await write(text, to: key, on: machine) {
            machine.roamer != nil && Bool.random(using: &random)
        }
    }

    /// Writes a text, or removes a key.
    ///
    /// - Parameter isHeard: Whether the roaming service hears of it at once.
    func write(
        _ text: String?, to key: RoamingKey, on machine: TormentedMachine,
        isHeard: () -> Bool = { true }
    ) async throws {
        let (seen, isMade) = try await machine.write(text, to: key)
        guard isMade else { return }
        say(
            "\(machine.number) writes \(text ?? "nothing") to \(key), seeing \(seen ?? "nothing")")
        ledger.note(
            text, of: key, on: machine.number, seeing: seen, at: Moment.now.wall,
            isOld: machine.isBehind)
        if isHeard() {
            await machine.roamer?.noteChange(of: [key.name], in: key.domain)
        } else {
            await machine.roamer?.noteMissedChanges()
        }
    }

    private func misfortune(_ machine: TormentedMachine) async throws {
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
            count("daemons killed")
            say("the daemon of \(machine.number) is killed")
            try await machine.killDaemon()
            await machine.roamer?.noteMissedChanges()
        case 1 where cutsPower: try await cutPower(machine)
        case 2 where movesClocks:
            count("clocks moved")
            machine.skew = Int64.random(in: -400...400, using: &random) * TormentedMachine.day
        case 3:
            count("engines disturbed")
            try await place.disturb()
        case 4 where putBack == .place:
            if Bool.random(using: &random) {
                try await backUpPlace()
            } else {
                try await restorePlace()
            }
        case 4 where putBack == .machines:
            if Bool.random(using: &random) {
                copies.append((machine.number, try await machine.copyDisk()))
            } else if !isAnyPutBack,
                let copy = copies.filter({
                    place.noticesCopies || $0.machine == machine.number
                }).randomElement(using: &random)
            {
                // After a second one, some values may be nowhere any more.
                isAnyPutBack = true
                try await putBack(machine, to: copy.path, of: copy.machine)
            }
        default:
            count("roaming services ended")
            say("the roaming service of \(machine.number) ends")
            machine.roamer = nil
        }
    }

    func cutPower(_ machine: TormentedMachine) async throws {
        count("power cuts")
        say("the power of \(machine.number) is cut")
        try await machine.cutPower()
        let values = try await machine.values(of: Self.domains)
        let cut = ledger.noteCut(of: machine.number, from: machine.durable, values: values)
        for write in cut {
            say("gone with the power: \(write.text ?? "a removal") of \(write.key)")
        }
    }

    func backUpPlace() async throws {
        say("the place is backed up")
        try await place.backUp()
    }

    func restorePlace() async throws {
        guard try await place.restore() else { return }
        count("places restored")
        say("the place is put back")
    }

    private func putBack(_ machine: TormentedMachine, to copy: String, of other: Int) async throws {
        count(other == machine.number ? "machines put back" : "machines cloned")
        say("the disk of \(machine.number) is replaced by an old one of \(other)")
        let lost = try await keptOnly(on: machine)
        try place.prepareReplacing(diskOf: machine.number)
        try await machine.putBack(copy)
        let values = try await machine.values(of: Self.domains)
        ledger.notePutBack(
            of: machine.number, from: machine.exchanged, values: values, keptOnlyThere: lost)
        machine.durable = ledger.writes.count
        machine.isBehind = true
    }

    /// The texts of losers that no other machine has kept yet.
    private func keptOnly(on machine: TormentedMachine) async throws -> Set<String> {
        var texts = try await Set(kept(on: machine))
        for other in machines where other !== machine { texts.subtract(try await kept(on: other)) }
        return texts
    }

    /// Something that happens at a step of a round.
    private func happen(to machine: TormentedMachine, at step: String) async throws {
        if step == FaultyEngine.joining {
            // Nobody knows how its values came about any more.
            machine.isBehind = true
            ledger.noteOld(try await machine.values(of: Self.domains))
        }
        if step == deadlyStep {
            deadlyStep = nil
            throw Interruption()
        }
        guard depth == 1, Int.random(in: 0..<100, using: &random) < chance else { return }
        depth += 1
        defer { depth -= 1 }
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1:
            count("rounds interrupted")
            say("the round of \(machine.number) is interrupted \(step)")
            throw Interruption()
        case 2, 3: try await edit(machine)
        case 4, 5:
            guard let other = machines.filter({ $0 !== machine }).randomElement(using: &random)
            else {
                return
            }
            try await edit(other)
            try await round(other)
        case 6:
            count("daemons killed in a round")
            say("the daemon of \(machine.number) is killed \(step)")
            try await machine.killDaemon()
            await machine.roamer?.noteMissedChanges()
        default:
            guard cutsPower else { return }
            try await cutPower(machine)
            throw Interruption()
        }
    }

    /// - Parameter interruptedAt: The step at which the process of the roaming service dies.
    func round(_ machine: TormentedMachine, interruptedAt deadlyStep: String) async throws {
        self.deadlyStep = deadlyStep
        try await round(machine)
        guard self.deadlyStep == nil else {
            throw RoamError("There was no step '\(deadlyStep)'.")
        }
    }

    func round(_ machine: TormentedMachine) async throws {
        count("rounds")
        depth += 1
        defer { depth -= 1 }
        do {
            let written = ledger.writes.count
            say("\(machine.number) begins a round")
            try await exchange(machine)
            say("\(machine.number) ends a round")
            machine.exchanged = written
            machine.isBehind = false
        } catch is Interruption {
            // The process ends: nothing of it is left but its files.
            machine.roamer = nil
        } catch let error as DefaultsError where error.code == .unreachable {
            machine.roamer = nil
        } catch let error as EngineError where error.kind != .refused {
            count("engines in trouble")
            say("the round of \(machine.number) ends: \(error)")
        }
    }

    @discardableResult
    private func exchange(_ machine: TormentedMachine) async throws -> (pushed: Int, stored: Int) {
        let roamer = try await roamer(of: machine)
        do {
            let counts = try await roamer.round()
            place.note(await roamer.replicaID, of: machine.number)
            return counts
        } catch {
            place.note(await roamer.replicaID, of: machine.number)
            throw error
        }
    }

    private func roamer(of machine: TormentedMachine) async throws -> Roamer {
        if let roamer = machine.roamer { return roamer }
        await machine.engine?.close()
        let engine = try await place.engine(for: machine, on: loop)
        machine.engine = engine
        let roamer = try Roamer(
            machine.defaults,
            at: FaultyEngine(engine) { words in
                self.say("\(machine.number) \(words)")
            } happen: { step in
                try await self.happen(to: machine, at: step)
            }, named: "torture",
            stateDirectory: machine.databaseDirectory, machine: "machine \(machine.number)",
            choice: machine.choice, clock: { machine.moment },
            beforeStep: { step in
                if Self.durableSteps.contains(step) { machine.durable = self.ledger.writes.count }
                try await self.happen(to: machine, at: step)
            }, on: loop)
        machine.roamer = roamer
        return roamer
    }

    // MARK: The end

    /// Lets all machines exchange everything.
    ///
    /// - Returns: Whether they are the same then.
    func settle() async throws -> Bool {
        depth = 2
        for machine in machines { machine.skew = 0 }
        try await exchangeEverything()
        // What only the earlier self of a machine knew is taken over when it is forgotten.
        if try await forgetEarlierSelves() { try await exchangeEverything() }
        return try await areSame()
    }

    private func exchangeEverything() async throws {
        for _ in 0..<20 {
            var exchanged = 0
            for machine in machines {
                await machine.roamer?.noteMissedChanges()
                do {
                    let (pushed, stored) = try await exchange(machine)
                    exchanged += pushed + stored
                } catch let error as EngineError where error.kind == .unreachable {
                    // A connection was cut just before.
                    exchanged += 1
                }
                try await place.settle()
            }
            say("settling: \(exchanged) exchanged")
            if exchanged == 0 { break }
        }
    }

    /// Forgets the names of machines that were put back and have others since.
    ///
    /// - Returns: Whether there are any.
    private func forgetEarlierSelves() async throws -> Bool {
        let present = try await Set(mapEach { try await self.roamer(of: $0).replicaID })
        guard let engine = machines.first?.engine else { return false }
        let earlier = try await engine.machines().map(\.id).filter { !present.contains($0) }
        for replica in earlier { try await engine.forget(replica) }
        return !earlier.isEmpty
    }

    /// Whether all machines have the same values and losers.
    private func areSame() async throws -> Bool {
        var all: [[RoamingKey: String]] = []
        for machine in machines { all.append(try await machine.values(of: Self.domains)) }
        let conflicts = try await Set(mapEach { try await Set(self.kept(on: $0)) })
        for values in all.dropFirst() where values != all.first {
            for key in Set(values.keys).union(all[0].keys).sorted() where values[key] != all[0][key]
            {
                print("differs: \(key): \(all[0][key] ?? "nothing"), \(values[key] ?? "nothing")")
            }
        }
        if conflicts.count != 1 { print("the kept losers differ") }
        return all.allSatisfy { $0 == all.first } && conflicts.count == 1
    }

    private func mapEach<Result>(
        _ body: (TormentedMachine) async throws -> Result
    ) async throws -> [Result] {
        var results: [Result] = []
        for machine in machines { results.append(try await body(machine)) }
        return results
    }

    private func kept(on machine: TormentedMachine) async throws -> [String] {
        try await machine.values(of: [RoamTerms.conflicts]).values.map { $0 }
    }

    func verdict() async throws -> Ledger.Verdict {
        ledger.verdict(
            values: try await machines[0].values(of: Self.domains),
            kept: Set(try await kept(on: machines[0])))
    }

    /// What the engines could not use of what the machines have exchanged.
    func refused() async -> [String] {
        var refused: [String] = []
        for machine in machines {
            refused += await machine.engine?.refusals.map { "\($0.key): \($0.value)" } ?? []
        }
        return refused
    }

    func end() async {
        for machine in machines { await machine.end() }
        machines = []
    }

    private func count(_ event: String) { events[event, default: 0] += 1 }

    private func say(_ line: String) {
        story.append(line)
        if isVerbose { print(line) }
    }
}
