import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// No read is older than the last change that was acknowledged to any process, whatever happens.
@Suite(.startsPrograms, .serialized) struct ClientFreshnessTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    private func expectFresh(
        _ pair: FreshnessPair, checks: Int, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let verdicts = try pair.verdicts()
        #expect(
            verdicts == Array(repeating: "checked \(checks / 2)", count: 2),
            sourceLocation: sourceLocation)
    }

    @Test func `Of very many reads by two processes that write in turn, none is stale`() throws {
        try expectFresh(FreshnessPair(rounds: 1000, reads: 250, in: desktop), checks: 250_000)
    }

    @Test(arguments: [SIGTERM, SIGKILL])
    func `No read is stale while the daemon ends repeatedly`(signal: Int32) throws {
        let pair = try FreshnessPair(rounds: 300, reads: 200, in: desktop)
        var ends = 0
        while pair.isRunning {
            if try desktop.end(by: signal) { ends += 1 }
            try pair.waitForRounds(10)
        }
        try expectFresh(pair, checks: 60_000)
        #expect(ends > 3)
    }

    @Test func `No read is stale while one daemon takes over from another`() throws {
        _ = try desktop.daemonPID()
        let pair = try FreshnessPair(rounds: 600, reads: 100, in: desktop)
        var daemons: [ChildProcess] = []
        while pair.isRunning {
            let owner = try desktop.askBus("GetNameOwner", "org.defaultsd.Defaults1")
            let daemon = try ChildProcess(
                [Desktop.programs + "/defaultsd", "--replace"], environment: desktop.environment)
            try wait {
                try !daemon.isRunning
                    || desktop.askBus("GetNameOwner", "org.defaultsd.Defaults1") != owner
            }
            // It answers when the one before has ended: a read waits for two seconds, and not for ever.
            _ = desktop.call("ListDomains")
            daemons.append(daemon)
            try pair.waitForRounds(20)
        }
        try expectFresh(pair, checks: 60_000)
        #expect(daemons.count > 1)
    }

    @Test func `No read is stale while the runtime directory disappears repeatedly`() throws {
        // While there is no page each read is a call.
        let pair = try FreshnessPair(rounds: 300, reads: 40, in: desktop)
        var losses = 0
        while pair.isRunning {
            if desktop.loseRuntimeDirectory(losses) { losses += 1 }
            try pair.waitForRounds(10)
        }
        try expectFresh(pair, checks: 12_000)
        #expect(losses > 1)
    }

    @Test func `No read is stale while the bus ends repeatedly`() throws {
        let bus = try RestartableBus(in: desktop)
        let pair = try FreshnessPair(
            rounds: 1500, reads: 40, in: desktop, environment: bus.environment)
        // Before, a process without a bus knows of nothing that it could wait for.
        try pair.waitForRounds(10)
        var ends = 0
        while pair.isRunning {
            try bus.restart()
            ends += 1
            try pair.waitForRounds(20)
        }
        try expectFresh(pair, checks: 60_000)
        #expect(ends > 1)
    }

    @Test func `A page with counters that are too low is detected`() throws {
        let pair = try FreshnessPair(rounds: 10_000, reads: 100, in: desktop)
        while pair.isRunning {
            // No service would make its counters fall, so somebody else does it here.
            desktop.run(
                "sh", "-c",
                """
                dd if=/dev/zero of="$(ls "$XDG_RUNTIME_DIR"/defaultsd/*/counters)" \
                    bs=32640 count=1 seek=128 oflag=seek_bytes conv=notrunc
                """)
        }
        let verdicts = try pair.verdicts()
        #expect(verdicts.contains { $0.hasPrefix("stale: ") }, "\(verdicts)")
    }
}
