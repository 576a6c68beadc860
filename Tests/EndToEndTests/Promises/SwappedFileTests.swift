import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// Files that a hostile program removes, replaces or cuts while the daemon uses them.
@Suite(.startsPrograms) struct SwappedFileTests: GuardedDesktop {
    let desktop: Desktop
    private let victims: Victims
    static let app = "org.example.App"

    init() throws {
        desktop = try Desktop()
        victims = try Victims(in: desktop.directory.path)
    }

    @Test(arguments: FileSwap.allCases, [SIGTERM, SIGKILL])
    func `What was acknowledged survives, and nobody who reads the page dies or reads old values`(
        swap: FileSwap, end: Int32
    ) throws {
        try write("early", 1)
        try desktop.tool("sync").requireOutput()
        try desktop.tool("backup", "now").requireOutput()
        _ = try desktop.waitForDailyBackup()
        let reader = try startReader()
        // It reads without end, also if this test ends early.
        defer { reader.send(SIGKILL) }
        let before = try victims.state()
        // It waits for the disk when the file is swapped, so nothing slow may come between: what has reached the
        // disk is gone with a file that is emptied.
        try write("late", 2)
        let other = try swap.make(on: desktop, victims)
        let process = try desktop.daemonPID()

        try write("after", 3)
        var generation: UInt64?
        // Otherwise the journal alone has the change when the daemon is killed.
        if swap.needsDisk || end == SIGTERM {
            generation = try generationOfChange()
            try expectValues()
            try sync()
            try expectValues()
            #expect(try desktop.daemonPID() == process, "\(log)")
        }
        try desktop.killDaemon(end)
        let counter = endReading(reader, diesOf: swap)
        try expectValues()
        #expect(try counter >= generation ?? generationOfChange())
        try write("last", 4)
        try sync()
        try desktop.killDaemon(SIGTERM)
        #expect(value(of: "last") == "4", "\(log)")
        try expectValues()
        #expect(try victims.state() == before, "\(log)")
        if let other {
            #expect(other.isRunning)
            #expect(FileManager.default.fileExists(atPath: try swap.path.path(on: desktop)))
        }
    }

    private func expectValues(sourceLocation: SourceLocation = #_sourceLocation) throws {
        for (key, expected) in [("early", "1"), ("late", "2"), ("after", "3")] {
            let answer = tool("read", Self.app, key)
            #expect(
                answer.output == expected + "\n", "\(key): \(answer)\n\(log)",
                sourceLocation: sourceLocation)
        }
    }

    private func sync() throws { try tool("sync").requireOutput() }

    /// Starts a program that maps the page and reads all of it again and again.
    ///
    /// At SIGTERM it prints the domain's counter and ends.
    private func startReader() throws -> ChildProcess {
        let reader = try desktop.start(
            "/usr/bin/python3", "-c",
            """
            import mmap, os, signal, sys
            from gi.repository import Gio, GLib
            bus = Gio.bus_get_sync(Gio.BusType.SESSION)
            answer, files = bus.call_with_unix_fd_list_sync(
                "org.defaultsd.Defaults1", "/org/defaultsd/Defaults1", "org.defaultsd.Defaults1",
                "Attach", GLib.Variant("(as)", ([sys.argv[1]],)), None, 0, -1, None, None)
            index, domains, generation = answer.unpack()
            file = files.steal_fds()[index]
            page = mmap.mmap(file, os.fstat(file).st_size, mmap.MAP_SHARED, mmap.PROT_READ)
            slot = 8 * domains[0][1]
            ended = False
            def end(*_):
                global ended
                ended = True
            signal.signal(signal.SIGTERM, end)
            print("mapped", flush=True)
            while not ended: bytes(page)
            print(int.from_bytes(page[slot:slot + 8], sys.byteorder), flush=True)
            """, Self.app)
        try #require(reader.lines?.next() == "mapped")
        return reader
    }

    /// Ends the reader, and returns the counter that it has read last.
    private func endReading(_ reader: ChildProcess, diesOf swap: FileSwap) -> UInt64 {
        reader.send(SIGTERM)
        let counter = reader.lines?.next().flatMap { UInt64($0) }
        let status = reader.waitUntilExit()
        if swap.endsReaders { return .max }
        #expect(status == 0)
        return counter ?? 0
    }

    /// The generation of the change that came after the swap.
    private func generationOfChange() throws -> UInt64 {
        let output = try tool("read", "--generation", Self.app, "after").requireOutput()
        return try #require(UInt64(output.trimmingCharacters(in: .newlines)), "\(output)")
    }
}
