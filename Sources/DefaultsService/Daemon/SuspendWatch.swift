import DBus
import Logging

// Invariants
//
// 1. While the machine is awake, and there is a logind that grants it, a delay lock is held: the
//    machine does not sleep before it is given back.
// 2. When the machine is about to sleep, it is given back as soon as everything that was acknowledged
//    before is on disk, or the disk refuses it, or `patience` is over.
// 3. Nobody waits for any of this. If the system bus or logind is missing, slow, refuses or ends,
//    there is a line in the log, and the daemon serves on.
// 4. While the machine is awake nothing here is done: there is no timer, and the bus is asked only
//    for what comes at the ends of a sleep or of logind.

/// Has everything on disk before the machine is suspended, for it may never wake up.
///
/// See [Inhibitor Locks](https://systemd.io/INHIBITOR_LOCKS/).
actor SuspendWatch {
    /// How long the disk may keep the machine awake: as long as logind by default waits for anybody.
    private static let patience = Duration.seconds(5)
    private static let logind: BusName = "org.freedesktop.login1"
    private static let manager: ObjectPath = "/org/freedesktop/login1"
    private static let interface: InterfaceName = "org.freedesktop.login1.Manager"
    /// How many signals may wait: more than there are sleeps while a disk hangs.
    private static let limit = 64

    /// The loop of the object.
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private nonisolated let loop: EventLoop
    private let object: DefaultsObject
    private let logger: Logger
    /// The delay lock, which is given back by being closed.
    private var lock: FileDescriptor?
    private var isSleepComing = false

    init(for object: DefaultsObject, logger: Logger) {
        loop = object.connection.loop
        self.object = object
        self.logger = logger
    }

    /// Follows the system bus until that ends.
    func follow() async {
        do {
            let bus = try await Connection.joining(busAt: Address.systemBus, on: loop)
            let sleeps = try await bus.signals(
                MatchRule(
                    sender: Self.logind, path: Self.manager, interface: Self.interface,
                    member: "PrepareForSleep"),
                limit: Self.limit)
            let owners = try await bus.ownerChanges(of: Self.logind, limit: Self.limit)
            if try await bus.hasOwner(of: Self.logind) { await takeLock(from: bus) }
            async let ownersFollowed: Void = followOwners(owners, on: bus)
            await followSleeps(sleeps, on: bus)
            await ownersFollowed
            logger.info(
                "The system bus has gone; suspends of the machine are not noticed any more.")
        } catch {
            logger.debug("Suspends of the machine are not noticed: \(error)")
        }
        lock = nil
    }

    private func followSleeps(_ sleeps: SignalStream, on bus: Connection) async {
        for await element in sleeps {
            // If signals were lost, a sleep may be coming.
            if case .signal(let signal) = element, signal.arguments == [.boolean(false)] {
                await takeLock(from: bus)
            } else {
                await prepareForSleep()
            }
        }
    }

    /// A logind that has started anew tells by itself of the next sleep; if it knows of the lock
    /// that was granted before, that one has served its time.
    private func followOwners(_ owners: SignalStream, on bus: Connection) async {
        for await element in owners {
            // Nobody, for now.
            if case .signal(let signal) = element, signal.arguments.last == .string("") { continue }
            await takeLock(from: bus)
        }
    }

    private func prepareForSleep() async {
        isSleepComing = true
        // One that is taken meanwhile is another.
        let lock = self.lock.take()
        switch await object.durability(within: Self.patience) {
        case .success: logger.debug("Everything is on disk; the machine may sleep.")
        case .failure(let error): logger.warning("The machine goes to sleep. \(error)")
        case nil:
            logger.warning(
                """
                The machine goes to sleep before the disk has taken all changes; the crash journal \
                has them.
                """)
        }
        withExtendedLifetime(lock) {}
    }

    private func takeLock(from bus: Connection) async {
        isSleepComing = false
        do {
            let granted = try await bus.call(
                Self.logind, Self.manager, Self.interface, "Inhibit", replying: "h"
            ) { writer in
                for word in ["sleep", "defaultsd", "Writes changed defaults to disk", "delay"] {
                    try writer.writeString(word)
                }
            } read: {
                try $0.readUnixFD()
            }
            // A sleep that has come in between has no use for it.
            lock = isSleepComing ? nil : granted
        } catch {
            logger.info("A suspend of the machine will not wait for changes: \(error)")
        }
    }
}
