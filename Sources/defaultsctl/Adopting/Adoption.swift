import DBus
import DefaultsClient
import DefaultsDconf
import DefaultsProtocol
import KeyedArchive
import Wording

/// The way of one door to defaultsd, and back.
///
/// 1. Each step can be repeated. After an interruption, the next run goes on.
/// 2. The mark decides which side has the values: with it the database, without it the files of the
///    other service.
/// 3. A value is removed from no side before the other one has it.
/// 4. Files that only show the database are not imported: they may be late.
/// 5. What is imported is noted before. After an interruption, a value in the database that is the noted one
///    came from the other service, and is replaced by what that has now.
struct Adoption {
    let door: any DesktopDoor
    let files: AdoptionFiles
    let defaults: RemoteDefaults
    let bus: Connection

    /// What was done, in a sentence.
    typealias Report = String

    /// Whether programs would notice the adoption.
    var isPossible: Bool { (try? door.check()) != nil }

    /// What ``isPossible`` is missing.
    var impossibility: Report {
        do {
            try door.check()
            return ""
        } catch {
            return "\(door.name) is skipped: \(ToolError(error).fact)"
        }
    }

    // MARK: There

    /// What ``adopt()`` would do.
    func plan() throws -> Report {
        guard !files.isAdopted else { return "\(door.name) is adopted already." }
        if files.isView || !door.hasValues {
            return "\(door.name): These files would be written: "
                + files.paths.joined(separator: ", ")
        }
        return
            "\(door.name): \(Self.count(try door.read(door.snapshot()))) would be imported, and these files written: "
            + files.paths.joined(separator: ", ")
    }

    /// Imports the values, and takes the place of the other service.
    func adopt() async throws -> Report {
        try door.check()
        if files.isAdopted {
            _ = try await takeNames()
            try await catchUp()
            try door.enter()
            return "\(door.name) is adopted already."
                + remainder(of: door.rivalLibrary, using: door.rival)
                + (await advice(isAdopted: true))
        }
        // The other service writes its last changes when it ends. A program may start it again.
        for name in door.busNames { try await endRival(of: name) }
        let snapshot = try door.snapshot()
        if files.isView {
            try files.writeMark(files.areShown ? nil : snapshot)
            _ = try await takeNames()
            return "\(door.name): defaultsd has all values already. Programs use it now."
                + remainder(of: door.rivalLibrary, using: door.rival)
        }
        let found = try door.read(snapshot)
        let left = try await importing(snapshot, found)
        try files.writeMark(snapshot)
        if try await takeNames() { try await catchUp() }
        try door.enter()
        return "\(door.name): " + (door.hasValues ? "\(Self.count(found)) imported. " : "")
            + "Programs use defaultsd now."
            + (left == 0
                ? ""
                : " \(counted(left, "value")) of these were left out, as their keys are locked.")
            + remainder(of: door.rivalLibrary, using: door.rival)
            + (await advice(isAdopted: true))
    }

    /// What the user has to do, as one more sentence.
    private func advice(isAdopted: Bool) async -> String {
        await door.advice(isAdopted: isAdopted, over: bus).map { " \($0)" } ?? ""
    }

    /// Imports what the other service has.
    ///
    /// After an earlier release, this is what has changed there since.
    ///
    /// - Returns: How many values are left out because their keys are locked.
    private func importing(_ snapshot: Snapshot, _ found: [ImportedDomain]) async throws -> Int {
        let released = try files.readReleased().map { try door.read($0) }
        try await resume(before: snapshot, found)
        try await take(from: released ?? [], to: found, replacing: released == nil)
        try await record(found)
        var left = 0
        for domain in found {
            left += try await locked(Set(domain.entries.map(\.key)), in: domain.name).count
        }
        return left
    }

    /// Takes over what programs have stored with the other service since the last time.
    private func catchUp() async throws {
        let snapshot = try door.snapshot()
        if files.isView { return try files.writeMark(files.areShown ? nil : snapshot) }
        let found = try door.read(snapshot)
        try await resume(before: snapshot, found)
        try await take(from: door.read(files.readMark()), to: found)
        try await record(found)
        try files.writeMark(snapshot)
    }

    /// Takes over what has changed since imports that were interrupted, and notes the one that begins.
    private func resume(before snapshot: Snapshot, _ found: [ImportedDomain]) async throws {
        let interrupted = try files.readInterrupted()
        try files.noteImporting(snapshot)
        for earlier in interrupted { try await take(from: door.read(earlier), to: found) }
    }

    /// A sentence about the programs that have a library, and use what it stands for until they end.
    private func remainder(of library: String?, using service: String) -> String {
        let programs = library.map(RunningPrograms.names) ?? []
        return programs.isEmpty
            ? "" : " These use \(service) until they end: \(programs.joined(separator: ", "))."
    }

    private func endRival(of name: BusName) async throws {
        if try await bus.rival(for: name) != nil { try await bus.end(name) }
    }

    /// - Returns: Whether the other service had a name, so it may have written since.
    private func takeNames() async throws -> Bool {
        guard !door.busNames.isEmpty else { return false }
        guard let program = Defaultsctl.console.daemonProgram else {
            throw ToolError.noDaemonProgram
        }
        try files.writeActivation(of: program)
        try await bus.reloadActivation()
        var hadRival = false
        for name in door.busNames where try await bus.rival(for: name) != nil {
            hadRival = true
            try await bus.end(name)
        }
        for name in door.busNames where try await bus.owner(of: name) == nil {
            try await bus.restartService()
            // The bus would start a second daemon for the name.
            try await bus.waitForOwner(of: name)
        }
        return hadRival
    }

    private func locked(_ keys: Set<String>, in domain: String) async throws -> Set<String> {
        Set(try await defaults.lockedKeys(of: keys, in: domain).map(\.key))
    }

    /// Makes the changes that lead from one state of the other service to a later one, as one change.
    ///
    /// Locked keys stay as they are. A key that has another value here than in the first state was
    /// changed here, too, and keeps its value.
    ///
    /// - Parameter isReplacing: Whether a key gets the later value whatever it has here.
    private func take(
        from earlier: [ImportedDomain], to later: [ImportedDomain],
        replacing isReplacing: Bool = false
    ) async throws {
        let changes = Dictionary(grouping: Self.changes(from: earlier, to: later), by: \.domain)
        try await defaults.retrying {
            var transactions: [String: DefaultsTransaction] = [:]
            for (domain, changes) in changes {
                let locked = try await locked(Set(changes.map(\.key)), in: domain)
                // Programs see the value for this machine, if there is one.
                let ofThisMachine = Set(try await defaults.keys(in: "\(domain)@host"))
                for change in changes where !locked.contains(change.key) {
                    let layer = ofThisMachine.contains(change.key) ? "\(domain)@host" : domain
                    let (own, generation) = try await defaults.archiveIfThere(
                        forKey: change.key, in: layer)
                    guard isReplacing || Self.areAlike(own, change.before) else { continue }
                    transactions[layer, default: .init()].expected[change.key] = generation
                    if let archive = change.archive {
                        transactions[layer, default: .init()].set(change.key, to: archive)
                        continue
                    }
                    transactions[layer, default: .init()].remove(change.key)
                    guard layer != domain else { continue }
                    // The value for all machines must not come back.
                    let (_, other) = try await defaults.archiveIfThere(
                        forKey: change.key, in: domain)
                    transactions[domain, default: .init()].expected[change.key] = other
                    transactions[domain, default: .init()].remove(change.key)
                }
            }
            guard !transactions.isEmpty else { return }
            try await defaults.applyAll(
                transactions.map { ($0.key, $0.value) }, isDurable: true)
        }
    }

    private static func areSame(_ one: KeyedArchive?, _ other: KeyedArchive?) -> Bool {
        guard let one, let other else { return one == nil && other == nil }
        return one.isSame(as: other)
    }

    /// Whether two values are the same, or one of them only says less of its type.
    private static func areAlike(_ one: KeyedArchive?, _ other: KeyedArchive?) -> Bool {
        func plain(_ archive: KeyedArchive?) -> KeyedArchive? {
            archive.map { $0.withoutExactType ?? $0 }
        }
        return areSame(one, other) || areSame(plain(one), plain(other))
    }

    // MARK: The record of domains

    /// The domains with settings of programs that share dconf's file, as the database names them.
    private var recorded: Set<String> {
        get async throws {
            guard door.sharedImport != nil else { return [] }
            return Set(try await defaults.keys(in: DconfDomains.record))
        }
    }

    /// Has the database name the domains of an import.
    private func record(_ domains: [ImportedDomain]) async throws {
        guard door.sharedImport != nil else { return }
        let names = Set(domains.map(\.name).filter { !DconfDomains.isPrivate($0) })
        let missing = names.subtracting(try await recorded)
        let locked = try await locked(missing, in: DconfDomains.record)
        var transaction = DefaultsTransaction()
        let value = try DconfDomains.recordValue
        for name in missing.subtracting(locked) { transaction.set(name, to: value) }
        guard missing != locked else { return }
        try await defaults.applyAll([(DconfDomains.record, transaction)])
    }

    // MARK: Back

    /// What ``release()`` would do.
    func releasePlan() async throws -> Report {
        guard files.isStarted else { return "\(door.name) is not adopted." }
        if !door.showsDatabase, files.areShown {
            return "\(door.name): These files would be removed: "
                + files.paths.joined(separator: ", ")
        }
        let kept = files.isAdopted ? try door.read(files.readMark()) : []
        let written = Self.count(try await stored(keeping: kept))
        return "\(door.name): "
            + (door.hasValues
                ? "\(written) would be written back for \(door.rival), and these files removed: "
                : "These files would be removed or restored: ")
            + files.paths.joined(separator: ", ")
    }

    /// Writes the values into the files of the other service, and gives it its place back.
    func release() async throws -> Report {
        let released = try files.readReleased()
        let isServing = try await isServing
        guard files.isStarted || released != nil && isServing else {
            guard door.showsDatabase, files.isView else { return "\(door.name) is not adopted." }
            // An earlier run was interrupted at its end.
            try await settle(written: stored(keeping: []))
            return "\(door.name): Programs use \(door.rival) again."
        }
        if !door.showsDatabase, files.areShown {
            // The daemon replies when the file has everything, or with an error.
            _ = try await bus.call(
                Dconf.busName, Dconf.writer,
                Dconf.interface, Dconf.initialize)
            try files.retireMark()
            return "\(door.name): dconf's file has all values. Programs use it again."
                + remainder(of: door.library, using: "defaultsd")
        }
        try door.leave()
        let written: [ImportedDomain]
        if files.isAdopted {
            written = try await writeBack()
        } else if let released {
            // An earlier run was interrupted after it had written everything.
            written = try door.read(released)
        } else {
            written = try await stored(keeping: [])
        }
        if !door.busNames.isEmpty {
            try files.removeActivation()
            try await bus.reloadActivation()
        }
        try files.retireMark()
        if !door.busNames.isEmpty { try await bus.restartService() }
        if door.showsDatabase { try await settle(written: written) }
        try await door.pass(
            Self.changes(from: written, to: try await stored(keeping: written)), over: bus)
        return "\(door.name): " + (door.hasValues ? "\(Self.count(written)) written back. " : "")
            + "Programs use \(door.rival) again." + remainder(of: door.library, using: "defaultsd")
            + (await advice(isAdopted: false))
    }

    /// Whether the daemon still has a name of the door.
    private var isServing: Bool {
        get async throws {
            let service = try await bus.owner(of: Contract.busName)
            for name in door.busNames {
                if let owner = try await bus.owner(of: name), owner == service { return true }
            }
            return false
        }
    }

    /// How often a program may start the other service while its files are written.
    private static let mostAttempts = 16

    /// Writes the files of the other service while it does not run.
    ///
    /// - Returns: What was written.
    private func writeBack() async throws -> [ImportedDomain] {
        for _ in 1...Self.mostAttempts {
            for name in door.writers { try await endRival(of: name) }
            try await catchUp()
            let domains = try await stored(keeping: door.read(files.readMark()))
            // The daemon must not take these files for changes of somebody else.
            if let files = try door.prospect(of: domains) { try self.files.writeMark(files) }
            try door.write(domains)
            // From now on, what differs from these files was changed later. If the daemon has written
            // them again, they have the values of all layers, which are not the user's.
            if !files.isView { try files.writeMark(door.snapshot()) }
            var isRunning = false
            for name in door.writers where try await bus.rival(for: name) != nil {
                isRunning = true
            }
            if !isRunning { return domains }
        }
        throw ToolError.rivalReturns(door.rival)
    }

    /// Brings the files up to date that the daemon has written until it ended.
    ///
    /// What the other service has changed since stays.
    private func settle(written: [ImportedDomain]) async throws {
        for _ in 1...Self.mostAttempts {
            for name in door.writers { try await endRival(of: name) }
            let now = try await stored(keeping: written)
            if files.isView {
                try door.write(now)
            } else {
                let theirs = Set(
                    Self.changes(from: written, to: try door.read(door.snapshot())).map {
                        [$0.domain, $0.key]
                    })
                let late = Self.changes(from: written, to: now).filter {
                    !theirs.contains([$0.domain, $0.key])
                }
                if !late.isEmpty { try door.write(late, over: door.read(door.snapshot())) }
            }
            try files.noteReleased(door.snapshot())
            var isRunning = false
            for name in door.writers where try await bus.rival(for: name) != nil {
                isRunning = true
            }
            if !isRunning { return }
        }
        throw ToolError.rivalReturns(door.rival)
    }

    /// Everything that programs have stored by this door.
    ///
    /// The values for this machine win over those for all machines.
    ///
    /// - Parameter kept: What the other service has. Its domains count, too, and of locked keys its
    ///   values.
    private func stored(keeping kept: [ImportedDomain]) async throws -> [ImportedDomain] {
        let known = Dictionary(kept.map { ($0.name, $0.entries) }) { first, _ in first }
        var domains: [ImportedDomain] = []
        let names = try await defaults.domains().map(\.withoutLayer) + known.keys
        let recorded = try await recorded
        for name in Set(names).sorted()
        where known[name] != nil || door.covers(name) || recorded.contains(name) {
            domains.append(
                ImportedDomain(
                    name: name, entries: try await entries(of: name, imported: known[name] ?? [])))
        }
        return domains
    }

    /// - Parameter imported: What the other service had. Of locked keys, this is still the user's value.
    private func entries(
        of name: String, imported: [DefaultsEntry]
    ) async throws -> [DefaultsEntry] {
        var values: [String: KeyedArchive] = [:]
        let locked = try await locked(Set(imported.map(\.key)), in: name)
        for entry in imported where locked.contains(entry.key) { values[entry.key] = entry.archive }
        for layer in [name, "\(name)@host"] {
            for entry in try await defaults.entries(in: layer).entries {
                values[entry.key] = entry.archive
            }
        }
        return values.sorted { $0.key < $1.key }.map {
            DefaultsEntry(key: $0.key, archive: $0.value)
        }
    }

    // MARK: Comparing

    private static func changes(
        from earlier: [ImportedDomain], to later: [ImportedDomain]
    ) -> [DoorChange] {
        func values(_ domains: [ImportedDomain]) -> [String: [String: KeyedArchive]] {
            var values: [String: [String: KeyedArchive]] = [:]
            for domain in domains {
                for entry in domain.entries {
                    values[domain.name, default: [:]][entry.key] = entry.archive
                }
            }
            return values
        }
        let (old, new) = (values(earlier), values(later))
        let changed = new.flatMap { domain, entries in
            entries.compactMap { key, archive -> DoorChange? in
                let before = old[domain]?[key]
                return areSame(before, archive) ? nil : (domain, key, before, archive)
            }
        }
        let removed = old.flatMap { domain, entries in
            entries.filter { new[domain]?[$0.key] == nil }
                .map { (domain, $0.key, $0.value, nil) as DoorChange }
        }
        return changed + removed
    }

    private static func count(_ domains: [ImportedDomain]) -> String {
        let values = domains.reduce(0) { $0 + $1.entries.count }
        return "\(counted(values, "value")) of \(counted(domains.count, "domain"))"
    }
}

extension Adoption {
    /// Runs a step for each of these doors, and prints what it reports.
    static func forEach(
        of doors: [any DesktopDoor.Type], with defaults: RemoteDefaults,
        _ step: (Adoption) async throws -> Report
    ) async throws {
        let places = Places()
        let bus = try await Defaultsctl.console.openBus()
        for kind in doors {
            let door = try kind.init(in: places)
            let adoption = Adoption(
                door: door, files: try AdoptionFiles(of: door, in: places), defaults: defaults,
                bus: bus)
            try SafeOutput.print(try await step(adoption))
        }
        await bus.close()
    }
}
