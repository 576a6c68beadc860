import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// One daemon takes over from another that has not ended, or has not even begun to serve.
@Suite(.startsPrograms, .serialized) struct HandOverChainTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    /// Begins a Python program with `first`, a connection that has the name as a daemon of an earlier
    /// version does, `second`, a daemon that took the name from it and waits for its end, `third`, one
    /// that waits for the name, and with `send` and `answers`.
    ///
    /// `send` sends some changes, as a group, and waits until the bus has passed them on; `answers` has
    /// the generations or the errors of each group.
    private static let python = """
        \(Desktop.pythonHandOver)
        bus, loop, answers, sent = connect(), GLib.MainLoop(), {}, 0
        first = connect()
        assert request(first, ALLOW_REPLACEMENT | DO_NOT_QUEUE) == 1
        second = replace(bus)
        third = wait_in_line(bus)
        def send(group):
            global sent
            for number in range(4):
                sent += 1
                def answered(bus, result):
                    try: answer = bus.call_finish(result).unpack()[0]
                    except GLib.Error as error: answer = Gio.DBusError.get_remote_error(error)
                    answers.setdefault(group, []).append(answer)
                    if sum(map(len, answers.values())) == sent: loop.quit()
                bus.call(name, path, name, "SetValue", GLib.Variant("(ssv)", (
                    "org.example.App", f"{group} {number}", GLib.Variant("i", number))), None, 0, FOREVER,
                    None, answered)
            ask(bus, "GetId")
        """

    @Test func `A daemon replaced before it serves answers its calls, then the next one serves`()
        throws
    {
        let output = try desktop.python(
            """
            \(HandOverChainTests.python)
            send("to the second")
            first.close_sync()
            loop.run()
            assert second.wait() == 0
            send("to the third")
            loop.run()
            print(answers)
            assert ask(bus, "GetConnectionUnixProcessID", name) == third.pid
            third.terminate()
            assert third.wait() == 0
            """, Desktop.programs + "/defaultsd", desktop.bus.address
        ).requireOutput()
        #expect(
            output == "{'to the second': [2, 3, 4, 5], 'to the third': [6, 7, 8, 9]}\n")
    }

    @Test func `A daemon that dies before it serves is not waited for, and the next one serves`()
        throws
    {
        let output = try desktop.python(
            """
            \(HandOverChainTests.python)
            send("to the second")
            second.kill()
            second.wait()
            while ask(bus, "GetConnectionUnixProcessID", name) != third.pid: pass
            send("to the third")
            loop.run()
            print(answers["to the third"], set(answers["to the second"]))
            third.terminate()
            assert third.wait() == 0
            """, Desktop.programs + "/defaultsd", desktop.bus.address
        ).requireOutput()
        #expect(output == "[2, 3, 4, 5] {'org.freedesktop.DBus.Error.NoReply'}\n")
    }

    @Test func `Of three that take over at once each has its turn, and writers notice nothing`()
        throws
    {
        let output = try desktop.python(
            """
            \(Desktop.pythonHandOver)
            bus, isOver = connect(), threading.Event()
            call(bus, "SetValue", "(ssv)", "org.example.First", "key", GLib.Variant("i", 0))
            failures, generations = [], []
            def write(number):
                mine = connect()
                while not isOver.is_set():
                    try:
                        generations.append(call(mine, "SetValue", "(ssv)", f"org.example.Writer{number}",
                                                "count", GLib.Variant("i", len(generations)))[0])
                    except GLib.Error as error: failures.append(error.message)
            writers = [threading.Thread(target=write, args=(number,)) for number in range(6)]
            for writer in writers: writer.start()
            daemons = []
            for _ in range(3):
                daemons += [subprocess.Popen([sys.argv[1], "--replace"]) for _ in range(3)]
                # One is left, whichever was last, and serves.
                while sum(daemon.poll() is None for daemon in daemons) > 1: pass
                done = len(generations)
                while len(generations) < done + 200: pass
            isOver.set()
            for writer in writers: writer.join()
            assert not failures, failures
            assert len(set(generations)) == len(generations)
            last = [daemon for daemon in daemons if daemon.poll() is None]
            for daemon in last: daemon.terminate()
            assert len(last) == 1 and {daemon.wait() for daemon in daemons} == {0}
            print("nothing lost")
            """, Desktop.programs + "/defaultsd", desktop.bus.address
        ).requireOutput()
        #expect(output == "nothing lost\n")
    }

    @Test func `However long the previous one takes to end, nobody tries its lock meanwhile`()
        throws
    {
        let first = try desktop.startDaemon()
        #expect(desktop.call("SetValue", "a.b", "key", "<1>").status == 0)
        first.send(SIGSTOP)
        let trace = desktop.directory.path + "/trace"
        let second = try ChildProcess(
            [
                "strace", "-f", "-y", "-e", "trace=flock", "-o", trace,
                Desktop.programs + "/defaultsd", "--replace",
            ], environment: desktop.environment)
        // The owner, and the one that waits for the name.
        try wait {
            try desktop.askBus("ListQueuedOwners", "org.defaultsd.Defaults1").contains(",")
        }
        first.send(SIGCONT)
        try first.requireSuccess()
        #expect(desktop.call("SetValue", "a.b", "key", "<2>").output == "(uint64 3,)\n")
        try desktop.killDaemon(SIGTERM)
        try second.requireSuccess()
        let attempts = try String(contentsOfFile: trace, encoding: .utf8)
            .split(separator: "\n").filter { $0.contains("LOCK_NB") }
        #expect(attempts.allSatisfy { $0.hasSuffix("= 0") }, "\(attempts)")
        // The others are those of its journal.
        let lock = "\(desktop.directory.path)/config/defaultsd/lock>"
        #expect(attempts.count { $0.contains(lock) } == 1, "\(attempts)")
    }
}
