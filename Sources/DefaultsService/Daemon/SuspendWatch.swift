import DBus
import Logging
import SystemCalls

// Invariants
//
// 1. While the machine is awake, the daemon holds a delay lock, if there is a logind that grants
//    it. The machine does not sleep until the lock is released.
// 2. When the machine is about to sleep, the lock is released as soon as everything that was
//    acknowledged before is on disk, the disk refuses it, or `patience` is over.
// 3. The service never waits for any of this. If the system bus or logind is missing, slow, refuses
//    or ends, the log says so, and the daemon continues.
// 4. While the machine is awake, nothing is done here. There is no timer. The bus is called only
//    after a sleep, or when logind starts or ends.

/// Writes everything to disk before the machine is suspended, because it may never wake up.
///
/// See [Inhibitor Locks](https://systemd.io/INHIBITOR_LOCKS/).
actor SuspendWatch {
    /// How long the disk may delay the sleep: as long as logind's default delay.
    private static let patience = Duration.seconds(5)
    /// How long the system bus may take to answer: nobody waits for it.
    private static let longestStart = Duration.seconds(300)
    private static let logind: BusName = "org.freedesktop.login1"
    private static let manager: ObjectPath = "/org/freedesktop/login1"
    private static let interface: InterfaceName = "org.freedesktop.login1.Manager"
    /// How many signals may be queued: more than there are sleeps while a disk hangs.
    private static let limit = 64

    /// The loop of the object.
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private nonisolated let loop: EventLoop
    private let service: Service
    private let logger: Logger
    /// The delay lock, which is released by closing it.
    private var lock: FileDescriptor?
    private var isSleepComing = false

    init(for service: Service, logger: Logger) {
        loop = service.connection.loop
        self.service = service
        self.logger = logger
    }

    /// Follows the system bus until the bus ends.
    func follow() async {
        do {
            let bus = try await Connection.open(
                .socket(Address.systemBus), within: Self.longestStart, on: loop)
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
                "The system bus has gone. The daemon no longer notices when the machine is suspended."
            )
        } catch {
            logger.debug("The daemon does not notice when the machine is suspended: \(error)")
        }
        lock = nil
    }

    private func followSleeps(_ sleeps: SignalStream, on bus: Connection) async {
        for await element in sleeps {
            // If signals were lost, the machine may be about to sleep.
            if case .signal(let signal) = element, signal.arguments == [.boolean(false)] {
                await takeLock(from: bus)
            } else {
                await prepareForSleep()
            }
        }
    }

    /// A logind that has restarted announces the next sleep itself.
    ///
    /// If it still knows the earlier lock, that lock is no longer needed.
    private func followOwners(_ owners: SignalStream, on bus: Connection) async {
        for await element in owners {
            // There is no logind now.
            if case .signal(let signal) = element, signal.arguments.last == .string("") { continue }
            await takeLock(from: bus)
        }
    }

    private func prepareForSleep() async {
        isSleepComing = true
        // A lock that is taken meanwhile is a different one.
        let lock = self.lock.take()
        switch await service.durability(within: Self.patience) {
        case .success: logger.debug("Everything is on disk. The machine may sleep.")
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
            // If the machine is about to sleep by now, the lock is of no use.
            lock = isSleepComing ? nil : granted
        } catch {
            logger.info("The machine may be suspended before changes are on disk: \(error)")
        }
    }
}
