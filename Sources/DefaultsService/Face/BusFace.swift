import DBus
import DefaultsCore
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import Logging

/// What programs see of the settings: the methods and signals of the contract, and the doors.
///
/// It reads calls, asks ``Settings``, and writes replies. It has no setting and no rule of its own.
///
/// Invariants:
/// 1. Everything here runs on the thread of the bus loop, except for what
///    ``runOnLane(_:in:_:then:)`` does with a detached call.
/// 2. A reply is sent before the signal about the same change.
/// 3. Neither an archive nor a part of one appears in a signal or an error message. The signals of doors
///    are the one exception: see ``KeySignals``.
final class BusFace {
    let connection: Connection
    let settings: Settings
    /// Finds out who a process is.
    let examiner: ProcessExaminer
    let logger: Logger
    /// The programs that are connected without a bus, and the domains that each follows.
    let followers = Followers()
    /// Who gets signals on the bus.
    private(set) lazy var signals = makeSignals()
    /// The doors that are open.
    private(set) var doors: [any Door] = []
    private let tasks: Tasks
    /// Called if the database can no longer be used.
    private let abandon: (any Error) -> Void

    init(
        on connection: Connection, _ settings: Settings, tasks: Tasks, examiner: ProcessExaminer,
        logger: Logger, abandon: @escaping (any Error) -> Void
    ) {
        self.connection = connection
        self.settings = settings
        self.tasks = tasks
        self.examiner = examiner
        self.logger = logger
        self.abandon = abandon
    }

    /// Opens doors, as far as they can be served here.
    func open(_ doors: [any Door.Type], beside database: DatabaseLocation) {
        self.doors = doors.compactMap { $0.init(on: self, beside: database) }
    }

    /// Begins to answer calls.
    nonisolated(nonsending) func begin() async {
        settings.memory.forget = { [weak self] in
            for door in self?.doors ?? [] { door.freeMemory() }
        }
        await settings.start(telling: self)
        await connection.export(
            [interface(), maintenanceInterface(), historyInterface()], at: Contract.objectPath)
        for door in doors {
            for (path, interface) in interfaces(of: door) {
                await connection.export([interface], at: path)
            }
        }
        for door in doors { await door.begin() }
        await settings.goOn()
    }

    /// Starts a task on the loop.
    func start(_ body: @escaping @Sendable (isolated Service) async -> Void) {
        tasks.start(body)
    }

    /// Sends nothing more by itself.
    func end() {
        signals.stopTimer()
        for door in doors { door.end() }
        // Each door has this face.
        doors = []
    }

    private func interfaces(of door: any Door) -> [(ObjectPath, Interface)] {
        // The connection calls handlers on the loop's thread.
        nonisolated(unsafe) let door = door
        nonisolated(unsafe) let face = self
        return type(of: door).interfaces { declared in
            Method(declared.name, in: declared.input, out: declared.output) { call in
                do {
                    try face.carryOut(call) { try door.answer($1) }
                } catch {
                    throw face.refusal(for: error, of: call)
                }
            }
        }
    }

    /// What the caller of a method gets: each door has errors of its own.
    func refusal(for error: any Error, of call: MethodCall) -> any Error {
        let door = doors.first { type(of: $0).signals.interface == call.interface }
        return door?.refusal(for: error) ?? error
    }

    // MARK: Shortcuts

    var store: Store { settings.store }
    var layers: FileLayers { settings.layers }
    var lanes: Lanes { settings.lanes }
    /// This machine, which the suffix `@host` means, and the other machines.
    var hosts: HostNames { store.hosts }
    var now: SuspendingClock.Instant { connection.loop.now }
}

// MARK: What happens to the settings

extension BusFace: SettingsObserver {
    func changed(_ announcements: [Announcement], by maker: ObjectIdentifier?) {
        for door in doors { door.changed(announcements, by: maker) }
        for announcement in announcements { tellFollowers(announcement) }
        signals.add(announcements)
    }

    func mayGoOn() {
        connection.assumeIsolated { $0.resumePostponedCalls() }
    }

    func flushed() { tellStatus() }

    /// Tells programs and the service manager that the trouble has changed.
    func troubled() {
        announceTrouble()
        tellStatus()
    }

    func lost(because error: StorageError) {
        connection.assumeIsolated { $0.refuseCalls(with: Service.hasEnded) }
        abandon(error)
    }

    /// Announces on the bus, or to the peer, that the property StorageError has changed.
    private func announceTrouble() {
        do {
            try connection.assumeIsolated {
                try $0.propertiesChanged(
                    Contract.objectPath, Contract.interface, [Contract.storageError.name])
            }
        } catch let error as DBusError where error.name == .disconnected {
            logger.debug("The change of StorageError was not announced: the connection has ended.")
        } catch {
            logger.warning("Cannot announce the change of StorageError on the bus: \(error)")
        }
    }
}
