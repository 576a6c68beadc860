import DBus
import DefaultsRoaming
import RoamingTerms
import Synchronization
import TestSupport
import TestTiers
import Testing

/// The roaming service with a place that the tests control, and the shipped daemon.
@Suite(.startsPrograms) struct RoamServiceTests {
    /// A place where each call takes a while, and which notes calls that come meanwhile.
    private actor SlowEngine: Engine {
        nonisolated let pollInterval: Duration? = nil
        let problems: [String]
        let refusals: [RoamingKey: String]
        private var running: String?
        private var makeRoundTrip: @Sendable () async -> Void = {}
        private var waitingForCall: [CheckedContinuation<Void, Never>] = []
        private(set) var overlaps: [String] = []
        private(set) var calls: [String] = []

        init(problems: [String] = [], refusals: [RoamingKey: String] = [:]) {
            (self.problems, self.refusals) = (problems, refusals)
        }

        private func take(_ call: String) async {
            if let running { overlaps.append("\(call) during \(running)") }
            calls.append(call)
            for waiter in waitingForCall { waiter.resume() }
            waitingForCall = []
            running = call
            // Meanwhile what others have sent comes to the service.
            for _ in 0..<20 { await makeRoundTrip() }
            running = nil
        }

        /// Has each call last for some round trips.
        func last(for roundTrip: @escaping @Sendable () async -> Void) {
            makeRoundTrip = roundTrip
        }

        func waitForCall() async {
            await withCheckedContinuation { continuation in
                guard calls.isEmpty else { return continuation.resume() }
                waitingForCall.append(continuation)
            }
        }

        func meet(
            _ replica: ReplicaID, named name: String, known: [UInt8]?,
            lastBatch: (number: UInt64, nonce: [UInt8], isAnswered: Bool)?
        ) async -> Meeting {
            await take("meet")
            return Meeting(state: .continued, place: [1], revision: 0)
        }

        func pull(after revision: UInt64, limit: Int) async -> Page {
            await take("pull")
            return Page(versions: [], revision: 0, hasMore: false)
        }

        func push(_ batch: Batch) async throws -> (outcomes: [Outcome], losers: [Loser]) {
            await take("push")
            throw EngineError(.unreachable, "Nothing can be stored here.")
        }

        func noteKept(_ losers: [Loser]) async { await take("noteKept") }
        func notePulled(upTo revision: UInt64) async { await take("notePulled") }
        func machines() async -> [DefaultsRoaming.Machine] {
            await take("machines")
            return []
        }
        func forget(_ replica: ReplicaID) async { await take("forget") }
        func onNews(_ body: @escaping @Sendable () -> Void) async { await take("onNews") }
        func close() {}
    }

    /// Runs the service with a place, and a body with a connection to it.
    ///
    /// - Parameter failures: How often the engine cannot be made at first.
    private func withService(
        at engine: SlowEngine, on desktop: Desktop, afterFailures failures: Int = 0,
        _ body: (Connection) async throws -> Void
    ) async throws {
        let attempts = Atomic(0)
        let loop = try EventLoop.startThread(named: "roaming")
        defer { loop.stop() }
        let bus = Address.address(desktop.bus.address)
        let service = RoamService(
            on: try await Connection.open(bus, on: loop), machine: "laptop", log: { _ in },
            onStatus: { _ in }, shortestPause: .milliseconds(10), describe: { $0.description },
            makeEngine: { _, _, _ in
                guard attempts.add(1, ordering: .relaxed).newValue > failures else {
                    throw EngineError(.unreachable, "The place is not there yet.")
                }
                return engine
            })
        let client = try await Connection.open(bus, on: loop)
        await engine.last {
            _ = try? await client.call(.bus, "/", "org.freedesktop.DBus", "GetId")
        }
        var owners = try await client.ownerChanges(of: RoamContract.busName, limit: 1)
            .makeAsyncIterator()
        let running = Task(executorPreference: loop) { try await service.run() }
        _ = await owners.next()
        let result: Result<Void, any Error>
        do { result = .success(try await body(client)) } catch { result = .failure(error) }
        await service.stop()
        try await running.value
        try result.get()
    }

    @Test func `A service ends, whichever step before its sleep it is stopped at`() async throws {
        let desktop = try Desktop()
        let loop = try EventLoop.startThread(named: "roaming")
        defer { loop.stop() }
        let bus = Address.address(desktop.bus.address)
        let client = try await Connection.open(bus, on: loop)
        for steps in 0...12 {
            // The bus may not have seen the end of the last one yet.
            while try await client.hasOwner(of: RoamContract.busName) {}
            let stopper = Stopper(after: steps, on: loop)
            let connection = try await Connection.open(bus, on: loop)
            let service = RoamService(
                on: connection, machine: "laptop", log: { _ in },
                onStatus: { _ in stopper.start() }, describe: { $0.description },
                makeEngine: { _, _, _ in SlowEngine() })
            stopper.stop = { service.assumeIsolated { $0.stop() } }
            // It waits for ever if it falls asleep after its stop.
            try await Task(executorPreference: loop) { try await service.run() }.value
            await connection.close()
        }
    }

    /// Stops a service some turns of the loop after it has told its status; on the loop's thread.
    private final class Stopper: @unchecked Sendable {
        private let loop: EventLoop
        private let steps: Int
        private var isStarted = false
        var stop: @Sendable () -> Void = {}

        init(after steps: Int, on loop: EventLoop) {
            (self.steps, self.loop) = (steps, loop)
        }

        func start() {
            guard !isStarted else { return }
            isStarted = true
            wait(for: steps)
        }

        private func wait(for steps: Int) {
            guard steps > 0 else { return stop() }
            loop.perform { self.wait(for: steps - 1) }
        }
    }

    private func call(
        _ member: MemberName, _ arguments: [Value] = [], over client: Connection
    ) async throws {
        _ = try await client.call(
            RoamContract.busName, RoamContract.path, RoamContract.interface, member, arguments)
    }

    @Test func `An engine has one call at a time, although machines are listed and forgotten`()
        async throws
    {
        let desktop = try Desktop()
        try desktop.tool("-currentHost", "write", RoamTerms.domain, "Directory", "-string", "/x")
            .requireOutput()
        let engine = SlowEngine()
        try await withService(at: engine, on: desktop) { client in
            try await call(RoamContract.roamNow, over: client)
            let other = Value.string(ReplicaID.random().description)
            let calls: [(MemberName, [Value])] = [
                (RoamContract.roamNow, []), (RoamContract.listMachines, []),
                (RoamContract.forgetMachine, [other]), (RoamContract.listMachines, []),
            ]
            try await withThrowingTaskGroup { group in
                for (member, arguments) in calls {
                    // The calls of one connection come one after the other.
                    let bus = Address.address(desktop.bus.address)
                    let caller = try await Connection.open(bus, on: client.loop)
                    group.addTask {
                        for _ in 0..<3 { try await call(member, arguments, over: caller) }
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(await engine.overlaps == [])
        #expect(await engine.calls.filter { $0 == "machines" }.count == 6)
    }

    @Test func `An engine that could not be made is tried again without being asked`() async throws
    {
        let desktop = try Desktop()
        try desktop.tool("-currentHost", "write", RoamTerms.domain, "Directory", "-string", "/x")
            .requireOutput()
        let engine = SlowEngine()
        try await withService(at: engine, on: desktop, afterFailures: 3) { _ in
            await engine.waitForCall()
        }
    }

    @Test func `What a place has and nobody can use is in the status and the diagnosis`()
        async throws
    {
        let desktop = try Desktop()
        try desktop.tool("-currentHost", "write", RoamTerms.domain, "Directory", "-string", "/x")
            .requireOutput()
        let engine = SlowEngine(
            problems: ["'laptop.json' is half a file."],
            refusals: [RoamingKey(domain: "org.example.App", name: "Font"): "it is damaged"])
        try await withService(at: engine, on: desktop) { client in
            try await call(RoamContract.roamNow, over: client)
            // The programs are other processes, so the service goes on meanwhile.
            let status = try desktop.tool("roam", "status").requireOutput()
            #expect(status.contains("'laptop.json' is half a file."), "\(status)")
            #expect(status.contains("org.example.App Font: "), "\(status)")
            let json = try desktop.tool("roam", "status", "--json").requireOutput()
            #expect(json.contains(#""Unusable":["'laptop.json' is half a file."]"#), "\(json)")
            let diagnosis = desktop.tool("doctor").output
            #expect(diagnosis.contains("cannot be used: 'laptop.json' is half"), "\(diagnosis)")
            #expect(diagnosis.contains("1 key cannot roam"), "\(diagnosis)")
        }
    }

    @Test func `A service that runs is enabled, although the bus could not start it`() async throws
    {
        // This desktop has no file with which the bus starts the service.
        let desktop = try Desktop()
        let engine = SlowEngine()
        try await withService(at: engine, on: desktop) { _ in
            try desktop.tool("roam", "enable", "--directory", desktop.directory.path)
                .requireOutput()
        }
        #expect(await !engine.calls.isEmpty)
    }

    @Test func `Without a place, the service waits, and begins when an administrator sets one`()
        async throws
    {
        let desktop = try Desktop()
        let engine = SlowEngine()
        try await withService(at: engine, on: desktop) { _ in
            let status = try desktop.tool("roam", "status").requireOutput()
            #expect(status.contains(/(?m)^state +off$/), "\(status)")
            #expect(await engine.calls.isEmpty)
            try desktop.write(
                #"{"Server": "host=/nonexistent"}"#, to: "\(RoamTerms.domain).json", in: .managed)
            await engine.waitForCall()
        }
    }

    @Test(.enabled(if: Desktop.sandboxIsAvailable, "bwrap cannot make a sandbox here"))
    func `A program in a sandbox is refused in every call`() async throws {
        let desktop = try Desktop()
        try await withService(at: SlowEngine(), on: desktop) { _ in
            func ask(_ method: String, _ arguments: String..., from way: [String]) -> ProgramResult
            {
                desktop.run(
                    way + [
                        "gdbus", "call", "--session", "--dest", "org.defaultsd.Roam1",
                        "--object-path", "/org/defaultsd/Roam1", "--method",
                        "org.defaultsd.Roam1.\(method)", "--",
                    ] + arguments)
            }
            #expect(ask("GetStatus", from: []).output.contains("'State'"))
            let mounts = ["bwrap", "--bind", "/", "/", "--tmpfs", "/home"]
            for way in [try desktop.wholeSandbox(), mounts] {
                let results = [
                    ask("GetStatus", from: way), ask("ListMachines", from: way),
                    ask("ForgetMachine", ReplicaID.random().description, from: way),
                    ask("ChangePassphrase", "known", from: way),
                ]
                for result in results {
                    #expect(result.error.contains("AccessDenied"), "\(result.error)")
                }
            }
        }
    }
}
