import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// Attach and the page of counters, seen by Python and GLib: the contract's rule, word by word.
@Suite(.startsPrograms, .serialized) struct PageTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    /// Begins a Python program with `attach`, and a page's `slot` of a domain by an FNV that is not
    /// ours.
    ///
    /// `slots_are(page, number)` is whether all slots have one number; `kill` ends the daemon and
    /// returns when it has ended and the bus has seen it go.
    private static let prelude = """
        \(Desktop.pythonArchive)
        import collections, fcntl, glob, mmap, os, select, shutil, signal, struct, sys
        Page = collections.namedtuple("Page", "words inode mode flags entries generation")

        def attach(*domains):
            answer, files = bus.call_with_unix_fd_list_sync(
                service.props.g_name, service.props.g_object_path, service.props.g_interface_name,
                "Attach", GLib.Variant("(as)", (domains,)), None, 0, -1, None, None)
            index, entries, generation = answer.unpack()
            file = files.steal_fds()[index]
            status = os.fstat(file)
            words = mmap.mmap(file, status.st_size, mmap.MAP_SHARED, mmap.PROT_READ)
            return Page(words, status.st_ino, status.st_mode,
                        fcntl.fcntl(file, fcntl.F_GETFL) & os.O_ACCMODE, entries, generation)

        def word(page, number): return struct.unpack_from("=Q", page.words, 8 * number)[0]

        def slot_number(domain):
            hash = 0xcbf29ce484222325
            for byte in domain.encode(): hash = (hash ^ byte) * 0x100000001b3 % 2**64
            return 16 + hash % 4080

        def slot(page, domain): return word(page, slot_number(domain))

        def slots_are(page, number):
            return set(struct.unpack_from("=4080Q", page.words, 128)) == {number}

        def ask_bus(method, *arguments):
            return bus.call_sync(
                "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", method,
                GLib.Variant("(" + "s" * len(arguments) + ")", arguments), None, 0, -1, None
            ).unpack()[0]

        def kill(signal):
            process = ask_bus("GetConnectionUnixProcessID", "org.defaultsd.Defaults1")
            # It becomes readable when the process has ended: after SIGTERM the name goes before.
            end = os.pidfd_open(process)
            os.kill(process, signal)
            select.select([end], [], [])
            while ask_bus("NameHasOwner", "org.defaultsd.Defaults1"): pass
            # The old proxy calls the owner that it knows. This one has found none, so it calls the
            # name.
            global service
            service = Gio.DBusProxy.new_sync(
                bus, Gio.DBusProxyFlags.DO_NOT_AUTO_START_AT_CONSTRUCTION, None, service.props.g_name,
                service.props.g_object_path, service.props.g_interface_name)

        def set_value(domain, key, number):
            return service.SetValue("(ssv)", domain, key, GLib.Variant("x", number))

        void = 2**64 - 1
        """

    /// Runs a program after the prelude, which prints `done` at its end.
    private func expect(
        _ program: String, _ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let result = desktop.run(
            ["/usr/bin/python3", "-c", PageTests.prelude + "\n" + program + "\nprint('done')"]
                + arguments)
        #expect(result.output == "done\n", "\(result.error)", sourceLocation: sourceLocation)
    }

    @Test func `AttachValues gives the same page with values, and names what has none`() {
        expect(
            """
            def values(*domains):
                answer, files = bus.call_with_unix_fd_list_sync(
                    service.props.g_name, service.props.g_object_path, service.props.g_interface_name,
                    "AttachValues", GLib.Variant("(as)", (domains,)), None, 0, -1, None, None)
                index, entries, generation = answer.unpack()
                return os.fstat(files.steal_fds()[index]).st_ino, entries, generation
            def nested(depth):
                return GLib.Variant("x", 1) if depth == 0 else GLib.Variant("av", [nested(depth - 1)])
            for key, value in {
                    "number": GLib.Variant("u", 5), "big": GLib.Variant("ay", bytes(65_000)),
                    "huge": GLib.Variant("ay", bytes(70_000)), "deep": nested(30)}.items():
                service.SetValue("(ssv)", "a.b", key, value)
            assert service.GetValue("(ss)", "a.b", "deep")
            inode, entries, generation = values("a.b", "a.b@managed")
            page = attach("a.b")
            assert inode == page.inode and generation == page.generation
            (name, slot, found, large, locked), managed = entries
            assert name == "a.b" and slot == slot_number("a.b") and locked == []
            assert found == {"number": 5, "big": list(bytes(65_000))}, sorted(found)
            assert sorted(large) == ["deep", "huge"], large
            assert managed == ("a.b@managed", slot, {}, [], [])
            """)
    }

    @Test func `Small archives that are immense as values do not fill the reply of AttachValues`() {
        expect(
            """
            word = GLib.Variant("s", "x")
            wide = GLib.Variant("av", [word] * 5_000)
            keys = {f"key{number}" for number in range(60)}
            for key in keys: service.SetValue("(ssv)", "a.b", key, wide)
            answer, _ = bus.call_with_unix_fd_list_sync(
                service.props.g_name, service.props.g_object_path, service.props.g_interface_name,
                "AttachValues", GLib.Variant("(as)", (["a.b"],)), None, 0, -1, None, None)
            _, _, found, large, _ = answer.unpack()[1][0]
            assert {*found, *large} == keys and 40 < len(found) < 60, (len(found), len(large))
            """)
    }

    @Test func `Attach gives the page as the contract describes it, and whole domains`() {
        expect(
            """
            set_value("org.example.App", "B", 2)
            service.Set("(ssay)", "org.example.App", "A", archive)
            set_value("org.example.App@host", "Here", 3)
            objects = [*contents["$objects"][:2], "a" * 70000, *contents["$objects"][3:]]
            service.Set("(ssay)", "org.example.App", "Large", dumps({**contents, "$objects": objects}))
            names = ["org.example.App", "org.example.App@host", "NSGlobalDomain", "org.example.None"]
            page = attach(*names)
            assert len(page.words) == 32768 and page.mode == 0o100600
            assert page.flags == os.O_RDONLY
            assert [word(page, number) for number in range(3)] == [1, 4080, 5], page.words[:24]
            assert page.generation == 5 == slot(page, "org.example.App")
            assert slot(page, "org.example.None") <= 1
            expected = [slot_number(name.split("@")[0]) for name in names]
            assert [(entry[0], entry[1]) for entry in page.entries] == list(zip(names, expected))
            (_, _, entries, large, locked), here, *empty = page.entries
            assert list(entries) == ["A", "B"] and bytes(entries["A"]) == archive
            assert large == ["Large"] and locked == []
            assert list(here[2]) == ["Here"]
            assert all(entry[2:] == ({}, [], []) for entry in empty)
            assert attach().entries == []
            """)
    }

    @Test func `A change is on the page when its reply comes; no change does not`() {
        expect(
            """
            domain, other = "org.example.App", "org.example.Other"
            page = attach(domain, other)
            archives = {"A": GLib.Variant("ay", archive)}
            def changes(domain):
                yield service.Set("(ssay)", domain, "One", archive)
                yield set_value(domain, "Two", 2)
                yield service.Remove("(ss)", domain, "Two")
                yield service.Rename("(sss)", domain, "One", "Three")
                yield service.Apply(
                    "(sa{say}asa{st}a{sv})", domain, {"A": archive, "B": archive}, ["Three"], {}, {})
                yield service.ApplyValues(
                    "(sa{sv}asa{st}a{sv})", domain, {"C": GLib.Variant("x", 1)}, [], {},
                    {"durable": GLib.Variant("b", True)})
                yield service.RemoveDomain("(s)", domain)
            for name in (domain, domain + "@host"):
                before = slot(page, other)
                for generation in changes(name):
                    assert slot(page, domain) == generation == word(page, 2)
                    assert slot(page, other) == before
            set_value(other, "Key", 1)
            now, last = slot(page, domain), word(page, 2)
            assert now < last == slot(page, other)
            service.RemoveDomain("(s)", domain)
            service.Remove("(ss)", domain, "Nothing")
            set_value(other, "Key", 1)
            service.Synchronize()
            assert (slot(page, domain), word(page, 2), slot(page, other)) == (now, last, last)
            """)
    }

    @Test(arguments: [SIGTERM, SIGKILL])
    func `The page stays when the daemon ends, and its clients see the next daemon's changes`(
        signal: Int32
    ) {
        expect(
            """
            end = int(sys.argv[1])
            set_value("org.example.App", "Key", 1)
            page = attach("org.example.App")
            for number in range(2, 8):
                generation = set_value("org.example.App", "Key", number)
                other = slot(page, "org.example.Other")
                kill(end)
                assert slot(page, "org.example.App") == generation
                assert service.GetValue("(ss)", "org.example.App", "Key") == (number, generation)
                assert slot(page, "org.example.App") == generation == word(page, 2)
                assert slot(page, "org.example.Other") == other
                again = attach("org.example.App")
                assert again.inode == page.inode and again.generation == generation
            """, "\(signal)")
    }

    @Test func `A runtime directory that is removed voids the page at the next change`() {
        expect(
            """
            runtime = os.environ["XDG_RUNTIME_DIR"] + "/defaultsd"
            first = attach("org.example.App")
            set_value("org.example.App", "Key", 1)
            shutil.rmtree(runtime)
            assert slot(first, "org.example.App") == 2
            set_value("org.example.App", "Key", 2)
            assert slots_are(first, void)

            second = attach("org.example.App")
            assert second.inode != first.inode and slot(second, "org.example.App") == 3
            shutil.rmtree(runtime)
            third = attach("org.example.App")
            assert slots_are(second, void) and third.inode != second.inode
            assert set_value("org.example.App", "Key", 3) == slot(third, "org.example.App")
            shutil.rmtree(runtime)
            kill(signal.SIGTERM)
            assert slots_are(third, void)
            assert service.GetValue("(ss)", "org.example.App", "Key")[0] == 3
            """)
    }

    @Test func `A truncated page does not crash the daemon`() {
        expect(
            """
            page = attach("org.example.App")
            daemon = ask_bus("GetConnectionUnixProcessID", "org.defaultsd.Defaults1")
            path, = glob.glob(os.environ["XDG_RUNTIME_DIR"] + "/defaultsd/*/counters")
            for size in (0, 4096, 32760):
                os.truncate(path, size)
                set_value("org.example.App", "Key", size)
                assert slots_are(page, void)
                os.stat(path)
                page = attach("org.example.App")
                assert slot(page, "org.example.App") == page.generation
            assert daemon == ask_bus("GetConnectionUnixProcessID", "org.defaultsd.Defaults1")
            """)
    }

    @Test
    func `A database that is created again in the same place, or restored, makes every copy old`() {
        expect(
            """
            config = os.environ["XDG_CONFIG_HOME"] + "/defaultsd"
            for number in range(9): set_value("org.example.App", "Key", number)
            first = attach("org.example.App")
            kill(signal.SIGTERM)
            shutil.copytree(config, config + "-backup")
            last = set_value("org.example.App", "Key", 100)
            assert slot(first, "org.example.App") == last
            kill(signal.SIGTERM)
            shutil.rmtree(config)
            os.rename(config + "-backup", config)
            restored, generation = service.GetValue("(ss)", "org.example.App", "Key")
            assert restored == 8 and generation < last < slot(first, "org.example.App")
            assert attach("org.example.App").generation > last

            kill(signal.SIGKILL)
            shutil.rmtree(config)
            before = slot(first, "org.example.App")
            assert service.ListDomains() == []
            assert slot(first, "org.example.App") > before
            assert attach("org.example.App").generation > before
            """)
    }

    @Test func `Thousands of domains share a slot: a change of one makes the others ask in vain`() {
        expect(
            """
            names, prefix = ["org.example.App"], 0xcbf29ce484222325
            wanted = slot_number(names[0]) - 16
            for byte in b"org.example.": prefix = (prefix ^ byte) * 0x100000001b3 % 2**64
            letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
            def extended(hash, text=""):
                for letter in letters:
                    next = (hash ^ ord(letter)) * 0x100000001b3 % 2**64
                    if len(text) < 3: yield from extended(next, text + letter)
                    elif next % 4080 == wanted: yield "org.example." + text + letter
            for name in extended(prefix):
                names.append(name)
                if len(names) == 3000: break
            assert len(names) == 3000
            set_value(names[7], "Key", 1)
            page = attach(*names)
            assert {entry[1] for entry in page.entries} == {slot_number("org.example.App")}
            for name in names[10:20]:
                generation = set_value(name, "Key", 2)
                assert slot(page, names[7]) == generation > page.generation
            assert service.GetChanges("(st)", names[7], page.generation) == (
                {}, [], [], generation, True)
            """)
    }

    /// Makes the runtime directory a file system of its own, of that size.
    ///
    /// - Returns: What unmounts it.
    private func mountRuntime(size: String) throws -> () -> Void {
        let path = desktop.directory.path + "/runtime"
        let mounted = desktop.run("mount", "-t", "tmpfs", "-o", "size=\(size),mode=700", "x", path)
        try #require(mounted.status == 0)
        return { desktop.run("umount", "--lazy", path) }
    }

    @Test(.enabled(if: geteuid() == 0, "mounting a file system takes root"))
    func `If the runtime directory is full, the page is beside the database, and stays there`()
        throws
    {
        let unmount = try mountRuntime(size: "64k")
        defer { unmount() }
        desktop.run("sh", "-c", "cat /dev/zero > \"$XDG_RUNTIME_DIR/filler\" 2>/dev/null")
        expect(
            """
            page = attach("org.example.App")
            path = os.environ["XDG_CONFIG_HOME"] + "/defaultsd/journal/counters"
            assert os.stat(path).st_ino == page.inode
            for number in range(3):
                generation = set_value("org.example.App", "Key", number)
                kill(signal.SIGKILL)
                assert service.GetValue("(ss)", "org.example.App", "Key") == (number, generation)
                assert slot(page, "org.example.App") == generation
                assert attach("org.example.App").inode == page.inode

            os.unlink(os.environ["XDG_RUNTIME_DIR"] + "/filler")
            kill(signal.SIGKILL)
            service.ListDomains()
            assert slots_are(page, void)
            assert attach("org.example.App").generation == generation
            """)
    }

    @Test(.enabled(if: geteuid() == 0, "mounting a file system takes root"))
    func `If there is space for the journal but not for the page, a later Attach gives it`()
        throws
    {
        let unmount = try mountRuntime(size: "16k")
        defer { unmount() }
        #expect(desktop.call("SetValue", "org.example.App", "Key", "<1>").status == 0)
        let refused = desktop.call("Attach", "['org.example.App']")
        #expect(refused.errorName == BadInputTests.own("StorageFailed"))
        #expect(desktop.call("SetValue", "org.example.App", "Key", "<2>").status == 0)
        let path = desktop.directory.path + "/runtime"
        #expect(desktop.run("mount", "-o", "remount,size=64k", path).status == 0)
        expect(
            """
            page = attach("org.example.App")
            assert slot(page, "org.example.App") == page.generation == 3
            assert set_value("org.example.App", "Key", 3) == slot(page, "org.example.App")
            """)
    }

    @Test(.enabled(if: geteuid() == 0, "mounting a file system takes root"))
    func `A runtime directory that becomes full leaves the page correct`() throws {
        let unmount = try mountRuntime(size: "128k")
        defer { unmount() }
        expect(
            """
            page = attach("org.example.App")
            generation = set_value("org.example.App", "Key", 1)
            filler = os.environ["XDG_RUNTIME_DIR"] + "/filler"
            with open(filler, "wb", buffering=0) as file:
                for size in (4096, 1):
                    try:
                        while file.write(bytes(size)): pass
                    except OSError: pass
            # The journal goes to the disk, and the page with it: the old one is void.
            number, moved = 1, False
            while not moved:
                generation, number = set_value("org.example.App", "Key", number + 1), number + 1
                moved = slots_are(page, void)
                assert moved or slot(page, "org.example.App") == generation
            page = attach("org.example.App")
            assert slot(page, "org.example.App") == page.generation == generation
            generation = set_value("org.example.App", "Key", number + 1)
            assert slot(page, "org.example.App") == generation == word(page, 2)
            assert service.GetValue("(ss)", "org.example.App", "Key")[0] == number + 1
            os.unlink(filler)
            assert set_value("org.example.App", "Key", 0) == slot(page, "org.example.App")
            """)
    }

    @Test(.enabled(if: Desktop.sandboxIsAvailable, "bwrap cannot make a sandbox here"))
    func `A sandboxed caller gets no page, but the values that are granted to it`() throws {
        try desktop.tool("grant", "*", "write", "org.example.App").requireOutput()
        #expect(desktop.call("Attach", "['org.example.App']").status == 0)
        let refused = try desktop.callFromSandbox(
            "org.defaultsd.Defaults1.Attach", "['org.example.App']")
        #expect(refused.errorName == "org.freedesktop.DBus.Error.AccessDenied", "\(refused)")
        let answer = try desktop.callFromSandbox(
            "org.defaultsd.Defaults1.SetValue", "org.example.App", "Key", "<1>")
        #expect(answer.output == "(uint64 3,)\n", "\(answer)")
    }
}

/// The rule of the page proved by a C program that has nothing of ours in it.
@Suite(.startsPrograms, .serialized) struct PageReaderTests {
    private let desktop: Desktop
    private let program = URL(filePath: CommandLine.arguments[0])
        .deletingLastPathComponent().appending(path: "PageReader").path(percentEncoded: false)

    init() throws { desktop = try Desktop() }

    @Test func `No read is stale while the runtime directory disappears repeatedly`() throws {
        var (losses, attachments) = (0, 0)
        // A reader may end before there is a second loss, or before it needs the page that follows.
        try wait {
            attachments += try read(losing: &losses) - 1
            return losses > 1 && attachments > 0
        }
    }

    /// Has a reader run to its end while the runtime directory disappears.
    ///
    /// - Parameter losses: How often it has disappeared.
    /// - Returns: How many pages the reader has had.
    private func read(losing losses: inout Int) throws -> Int {
        let facts = desktop.directory.path + "/facts"
        let reader = try ChildProcess(
            [program, "--writes", "20000", "--reads", "20000", "--kill-every", "0"],
            environment: desktop.environment, output: .lines, error: .file(facts))
        let most = losses + 20
        try wait {
            // Until the daemon has made everything again, each read is a call.
            if losses < most, desktop.loseRuntimeDirectory(losses) { losses += 1 }
            return !reader.isRunning
        }
        let told = try String(contentsOfFile: facts, encoding: .utf8)
        let line = try #require(reader.lines?.next(), "\(told)")
        let match = try #require(line.firstMatch(of: /kills 0 attachments (\d+)/), "\(line)")
        return try #require(Int(match.1))
    }

    @Test func `A page with counters that are too low is detected`() throws {
        let facts = desktop.directory.path + "/facts"
        let reader = try ChildProcess(
            [program, "--kill-every", "0"], environment: desktop.environment, error: .file(facts))
        while reader.isRunning {
            // No service would make its counters fall, so somebody else does it here.
            desktop.run(
                "sh", "-c",
                """
                dd if=/dev/zero of="$(ls "$XDG_RUNTIME_DIR"/defaultsd/*/counters)" \
                    bs=32640 count=1 seek=128 oflag=seek_bytes conv=notrunc
                """)
        }
        #expect(reader.waitUntilExit() == 1)
        let told = try String(contentsOfFile: facts, encoding: .utf8)
        #expect(told.contains("is stale: Key") || told.contains("is acknowledged with"), "\(told)")
    }
}
