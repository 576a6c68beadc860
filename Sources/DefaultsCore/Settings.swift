package import class DBus.EventLoop
import DefaultsModel
package import DefaultsStorage
import DefaultsTerms
package import Logging

/// Who hears of the settings: the service on the bus.
package protocol SettingsObserver: AnyObject {
    /// Readers see changes, and their makers know that they are made.
    ///
    /// - Parameter maker: Who has made them; nil if it does not matter.
    func changed(_ announcements: [Announcement], by maker: ObjectIdentifier?)
    /// Calls that were postponed may go on.
    func mayGoOn()
    /// What `Store.storageError` says is another sentence now, or none.
    func troubled()
    /// A flush has succeeded.
    func flushed()
    /// The database can no longer be used. The crash journal keeps the acknowledged changes.
    func lost(because error: StorageError)
}

/// The settings of the user: the database, what programs may do, the layers that are made from files,
/// and what becomes of a change.
///
/// It knows nothing of the bus and of desktops. All state is in the parts; this coordinates what concerns
/// several of them.
///
/// Invariants:
/// 1. Everything here runs on the thread of the loop. Only ``DurableWriter`` and ``Lanes`` use other
///    threads. What passes between threads is a value, or is used by one thread at a time.
/// 2. A change is written to the journal before readers see it, readers see it before its maker
///    hears of it, and its maker hears of it before all others. ``change(_:by:_:then:)`` has this order.
/// 3. Neither an archive nor a part of one appears in a log line or an error message.
package final class Settings {
    /// The database, and when it is written to disk.
    package let store: Store
    /// The threads for calls that would block the loop for long.
    package let lanes = Lanes()
    package let memory: Memory
    package let statistics: Statistics
    /// The callers that made the last changes.
    package let writers = WriterLog()
    /// What programs in a sandbox may use.
    package let rights: Rights
    /// The layers that are made from files.
    package let layers: FileLayers
    /// What they lock.
    package let locks: Locks
    /// What programs may store.
    package let quotas: QuotaRules
    /// What programs have stored.
    package let usage = QuotaKeeper()
    /// How the service itself is set.
    let options: OptionKeeper<ServiceOption>
    /// What the history keeps.
    package let history: HistoryKeeper
    /// When the files of layers are read.
    let layerSchedule: LayerSchedule
    /// Backups and other upkeep that is in progress or waits.
    let upkeep = Upkeep()
    /// The changes that wait until their makers know of them.
    let announcements = Announcements()
    let loop: EventLoop
    let logger: Logger
    /// Has work begun that does not end at once.
    let begin: (Work) -> Void
    /// The domain whose keys name the domains whose values keep their exact types.
    private let typedDomains: Domain?
    private weak var observer: (any SettingsObserver)?

    /// - Parameters:
    ///   - database: The open database.
    ///   - writer: Its writer.
    ///   - layers: The layers that are made from files.
    ///   - typedDomains: The name of the domain whose keys name the domains whose values keep their
    ///     exact types.
    ///   - loop: On whose thread everything is done.
    ///   - logger: The log, which gets no value.
    ///   - begin: Starts a task that calls ``carryOut(_:)``.
    package init(
        _ database: sending Database, _ writer: DurableWriter, layers: FileLayers,
        typedDomains: String, on loop: EventLoop, logger: Logger,
        begin: @escaping (Work) -> Void
    ) {
        let date = database.date
        self.loop = loop
        self.logger = logger
        self.begin = begin
        self.layers = layers
        self.typedDomains = try? Domain(name: typedDomains, layer: .domain)
        memory = Memory(on: loop)
        statistics = Statistics(since: loop.continuousNow)
        store = Store(
            database, writer, lanes: lanes, statistics: statistics, on: loop, logger: logger,
            begin: begin)
        locks = Locks(in: store, layers)
        let policies = Policies(in: store, layers)
        rights = Rights(by: policies, logger: logger)
        options = OptionKeeper(by: policies, logger: logger)
        history = HistoryKeeper(
            by: policies, of: writers, on: loop, date: { Int(date.now) }, logger: logger)
        quotas = QuotaRules(
            usage, in: store, by: policies, rights, layers.places, on: loop, logger: logger)
        layerSchedule = LayerSchedule(of: layers.places, on: loop)
        store.observer = self
        layerSchedule.read = { begin(.readLayers) }
        store.delays = { [weak options] in options?.delays ?? .init() }
        store.historyRules = { [weak history] in history?.rules }
    }

    /// Reads the files of layers, before anybody can ask.
    package nonisolated(nonsending) func start(
        telling observer: any SettingsObserver
    ) async {
        self.observer = observer
        await readLayers()
    }

    /// Writes what the previous process has left, and removes what it has removed from the file.
    package nonisolated(nonsending) func goOn() async {
        store.noteRecovered()
        await tidyUpAfterStart()
    }

    /// Does the work that was to begin.
    package nonisolated(nonsending) func carryOut(_ work: Work) async {
        switch work {
        case .disk: store.work()
        case .flush(let batch): await store.write(batch)
        case .repair(let damage): await store.repair(because: damage)
        case .prepareLog: await store.prepareLog()
        case .readLayers: await readLayers()
        case .upkeep: await doUpkeep()
        }
    }

    /// Whether values of a domain keep their exact types.
    func keepsTypes(of domain: Domain) -> Bool {
        guard let typedDomains, let key = try? Key(domain.name) else { return false }
        return (try? store.database.generation(typedDomains, key)) != nil
    }

    // MARK: Settings about the service

    /// Notes that a domain has changed, which may decide what the service does.
    func noteChange(of domain: Domain) {
        rights.noteChange(of: domain)
        options.noteChange(of: domain)
        history.noteChange(of: domain)
    }

    /// Reads the settings about the service again.
    func readPoliciesAgain() {
        usage.readAgain()
        rights.readAgain()
        options.readAgain()
        history.readAgain()
    }

    // MARK: What callers may use

    /// How the names in a call are read that changes nothing.
    package var names: CheckedNames { CheckedNames(hosts: store.hosts) }

    // MARK: The end

    /// Cancels upkeep, and writes what is pending.
    package nonisolated(nonsending) func prepareEnd() async {
        await endUpkeep()
        if case .success = await store.durability() { await tidyAtEnd() }
    }

    /// Waits until no long call reads, and writes what is pending.
    ///
    /// Nothing may suspend between this and ``close(with:)``.
    ///
    /// - Returns: The error of the disk, if it refuses. The crash journal keeps the changes.
    package nonisolated(nonsending) func rest() async -> DiskKeeper.Outcome {
        await lanes.snapshotsClosed()
        return await store.durabilityAtRest()
    }

    /// Does nothing more, and closes the database.
    package nonisolated(nonsending) func close(with outcome: DiskKeeper.Outcome) async {
        memory.end()
        layerSchedule.end()
        await store.close(with: outcome)
    }

    /// Whether another thread works for it.
    package var isWorking: Bool {
        store.isWorking || lanes.isAnyBusy || history.isBeingRead
    }
}

// MARK: What happens to the store

extension Settings: StoreObserver {
    func flushEnded() { usage.noteFlush() }

    func flushed() { observer?.flushed() }

    func mayDoUpkeep(hasChores: Bool) {
        backUpDaily()
        if hasChores { tidyUp() }
    }

    func replaced() { usage.readAgain() }

    func repaired(_ repair: CompletedRepair) {
        for domain in repair.domains { noteChange(of: domain.domain) }
        announce(repair.domains.map { Announcement($0, at: store.generation) })
    }

    /// The repair may have brought back an older value of a layer that is made from files.
    nonisolated(nonsending) func repairEnded() async { await readLayers() }

    func mayGoOn() { observer?.mayGoOn() }

    func troubled() { observer?.troubled() }

    func lost(because error: StorageError) {
        layerSchedule.end()
        observer?.lost(because: error)
    }

    /// Says what has changed to all who follow it.
    func announce(_ announcements: [Announcement], by maker: ObjectIdentifier? = nil) {
        observer?.changed(announcements, by: maker)
    }
}
