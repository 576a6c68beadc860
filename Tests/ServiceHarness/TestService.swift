import TestSupport

@testable import DefaultsCore
@testable import DefaultsService

/// A service in this process, whose clock a test moves by hand.
///
/// It is the actor that the daemon runs, with a database of its own. It is served over socket pairs
/// instead of a bus, and the services of desktops are not served.
///
/// ```swift
/// try await withService { service in
///     let caller = try await service.caller()
///     try await caller.set("org.example.App", "Key", .int64(1))
///     await service.advance(by: .milliseconds(249))   // Not on disk yet.
///     await service.advance(by: .milliseconds(1))     // On disk.
/// }
/// ```
///
/// Invariants:
/// 1. No time passes unless a test moves the clock, and the clock stops at each timer. The date stands still,
///    too, until the test moves it.
/// 2. When a method here or of ``TestCaller`` returns, the service has nothing left to do at the present
///    time. What a caller still waits for then needs time, or the disk.
final class TestService {
    /// How a process ends.
    enum Ending {
        /// As the daemon ends after SIGTERM.
        case orderly
        /// Nothing is written or closed any more, as after SIGKILL.
        case dropped
    }

    /// What there is before the service starts.
    struct Setup {
        /// The files of administrators and vendors, by their paths below `managed`, `recommended` or
        /// `vendor`.
        var layerFiles: [String: String] = [:]
        /// The machine on which it runs; nil is this one.
        var machine: TestMachine?
    }

    private let place: TestPlace
    private let lines = LogLines()
    /// The service from its last start.
    private(set) var running: RunningService
    /// Where it runs; nil is this machine.
    private var machine: TestMachine?

    private init(_ place: TestPlace, on machine: TestMachine?) async throws {
        self.place = place
        self.machine = machine
        running = try await RunningService.start(in: place, on: machine, logging: lines)
    }

    /// Starts a service with an empty database.
    static func start(
        _ setup: Setup = Setup(), in kind: TestPlace.Kind = .memory
    ) async throws -> TestService {
        try await TestService(TestPlace(kind, setup), on: setup.machine)
    }

    /// Connects a program.
    func caller(_ kind: TestCaller.Kind = .own) async throws -> TestCaller {
        try await running.caller(kind)
    }

    /// The program for which the service was started: all signals go to it.
    var peer: TestCaller { running.peer }

    /// The date, which does not move with the clock.
    var date: HeldDate { place.date }

    /// Moves the clock, timer after timer.
    func advance(by duration: Duration) async {
        await running.stage.advance(by: duration)
    }

    /// Does everything that can be done without the clock.
    func settle() async {
        await running.stage.settle()
    }

    /// The disk, which can be told to fail.
    var disk: TestDisk { TestDisk(of: running) }

    /// Keeps long calls of a kind from being carried out.
    func hold(_ lane: Lanes.Lane) async throws -> Hold {
        try await running.hold(lane)
    }

    /// What the service has logged since the first start.
    var log: [LogLine] { lines.all }

    /// Writes a file of an administrator or a vendor.
    func writeLayerFile(_ name: String, _ text: String) async throws {
        try place.writeLayerFile(name, text)
        await settle()
    }

    /// Ends the service and starts another one with its files.
    ///
    /// Its callers are disconnected. The clock of the new one starts again at zero.
    ///
    /// - Parameter machine: Where the next one runs; nil is the same machine.
    func restart(
        _ ending: Ending = .orderly, on machine: TestMachine? = nil,
        whileEnded change: () throws -> Void = {}
    ) async throws {
        switch ending {
        case .orderly: try await running.stop()
        case .dropped: try await running.drop()
        }
        try change()
        self.machine = machine ?? self.machine
        running = try await RunningService.start(in: place, on: self.machine, logging: lines)
    }

    /// Looks at something in each process that there may be: in this one, after a kill, and after an
    /// orderly end.
    func inEachProcess(_ body: (TestCaller) async throws -> Void) async throws {
        try await body(caller())
        for ending in [Ending.dropped, .orderly] {
            try await restart(ending)
            try await body(caller())
        }
    }

    /// Ends the service in order.
    ///
    /// - Throws: ``StillWaiting`` if a caller waits for something that needs time or the disk, or if the
    ///   service has left a timer.
    func end() async throws {
        try await running.stop()
    }
}

/// Starts a service, and ends it after the test.
func withService(
    _ setup: TestService.Setup = .init(), in kind: TestPlace.Kind = .memory,
    _ body: (TestService) async throws -> Void
) async throws {
    let service = try await TestService.start(setup, in: kind)
    try await body(service)
    try await service.end()
}

/// Starts a service with a program of the user, and ends it after the test.
func withCaller(
    _ setup: TestService.Setup = .init(), _ body: (TestCaller, TestService) async throws -> Void
) async throws {
    try await withService(setup) { try await body($0.caller(), $0) }
}

// MARK: What is on disk

extension TestService {
    /// The generation of a key in the database on disk, without the journal; nil if it is not there.
    func generationOnDisk(_ domain: String, _ key: String) throws -> UInt64? {
        try place.generationOnDisk(domain, key)
    }

    /// The files of the service.
    var files: TestPlace { place }
}

/// A service was to end while something waited for time or the disk.
struct StillWaiting: Error, Equatable {
    /// The names of the methods that were called, and what else there is.
    let names: [String]
}
