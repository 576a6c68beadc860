import Foundation
import Glibc
import SystemCalls
import TestSupport
import TestTiers
import Testing

@testable import DBus

/// Who calls from a sandbox, as the service learns it.
@Suite(.startsPrograms) struct SandboxedCallerTests {
    /// Says who calls.
    private static let interface = Interface(
        "a.Service",
        methods: [
            Method("Who", out: [Argument("who", "s")]) { call in
                let credentials = call.credentials
                let words = [
                    credentials?.application ?? "nobody",
                    credentials?.isAtHome == true ? "at home" : "confined",
                ]
                try call.reply { try $0.writeString(words.joined(separator: ", ")) }
            }
        ], signals: [SignalDeclaration("Rang", [Argument("count", "u")])])

    private static func serve(on connection: Connection, runtimeDirectory: String) async {
        await connection.export([interface], at: "/")
        await connection.identifyCallers(inRuntimeDirectory: runtimeDirectory)
    }

    /// A service on a bus of its own.
    private final class Service: Sendable {
        let session: PrivateSession
        let connection: Connection
        let directory: TemporaryDirectory
        var runtime: String { directory.path + "/runtime" }

        init() async throws {
            session = try PrivateSession()
            connection = try await session.connect()
            directory = try TemporaryDirectory()
            mkdir(directory.path + "/runtime", 0o700)
            await SandboxedCallerTests.serve(
                on: connection, runtimeDirectory: directory.path + "/runtime")
            let name: BusName = "org.defaultsd.Defaults1"
            #expect(try await connection.requestName(name) == .primaryOwner)
        }

        /// What the service says to gdbus in a sandbox, or the error.
        func answer(_ command: ([String]) -> [String]) async -> String {
            let command = command(SandboxProgram.call("a.Service.Who", at: "/", []))
            let result = await ProgramResult.running(command, environment: environment)
            return result.status == 0
                ? String(result.output.dropFirst(2).dropLast(4))
                : result.error.firstMatch(of: /GDBus\.Error:([\w.]+)/).map { String($0.1) }
                    ?? result.error
        }

        var environment: [String: String] {
            [
                "DBUS_SESSION_BUS_ADDRESS": session.bus.address, "PATH": "/usr/bin:/bin",
                "HOME": directory.path, "XDG_RUNTIME_DIR": runtime,
            ]
        }

        func sandbox(
            _ application: String, _ access: ApplicationSandbox.Access = .talk
        ) throws -> ApplicationSandbox {
            try ApplicationSandbox(
                application, access, bus: session.bus.address, runtimeDirectory: runtime)
        }
    }

    private static let serviceUnknown = "org.freedesktop.DBus.Error.ServiceUnknown"

    @Test func `A program of the host is at home and no application`() async throws {
        let service = try await Service()
        #expect(await service.answer { $0 } == "nobody, at home")
    }

    // MARK: Made by hand

    @Test(.enabled(if: ApplicationSandbox.isAvailable, ApplicationSandbox.skipped))
    func `An app is known behind its proxy, and as the owner of the bus's socket`() async throws {
        let service = try await Service()
        let (one, other) = (
            try service.sandbox("org.example.One"),
            try service.sandbox("org.example.Other", .wholeBus)
        )
        #expect(await service.answer { one.command($0) } == "org.example.One, confined")
        #expect(await service.answer { other.command($0) } == "org.example.Other, confined")
        let none = try service.sandbox("org.example.None", .nothing)
        #expect(await service.answer { none.command($0) } == Self.serviceUnknown)
    }

    @Test(.enabled(if: ApplicationSandbox.isAvailable, ApplicationSandbox.skipped))
    func `An instance without a record, or with another one, has no name`() async throws {
        let service = try await Service()
        let sandbox = try service.sandbox("org.example.App")
        let record = sandbox.record
        #expect(await service.answer { sandbox.command($0) } == "org.example.App, confined")
        // The proxy has a connection for each of its clients, so each is identified by itself.
        try "1\(sandbox.mark)".write(
            toFile: record + "/info", atomically: false, encoding: .utf8)
        #expect(await service.answer { sandbox.command($0) } == "nobody, confined")
        try FileManager.default.removeItem(atPath: record)
        #expect(await service.answer { sandbox.command($0) } == "nobody, confined")
    }

    /// A program with the bus's own socket that shows another app's mark: its bytes, on the disk.
    @Test(.enabled(if: ApplicationSandbox.isAvailable, ApplicationSandbox.skipped))
    func `A mark that is mounted from the disk has no name`() async throws {
        let service = try await Service()
        let sandbox = try service.sandbox("org.example.App")
        let copy = try service.directory.write(sandbox.mark, to: "copy")
        let answer = await service.answer {
            ["bwrap", "--dev-bind", "/", "/", "--ro-bind", "/usr", "/mnt", "--"] + $0
        }
        #expect(answer == "nobody, confined")
        let forged = await service.answer { Self.plainSandbox(["--ro-bind", copy]) + $0 }
        #expect(forged == "nobody, confined")
    }

    @Test(.enabled(if: ApplicationSandbox.isAvailable, ApplicationSandbox.skipped))
    func `A forged mark, and one in a nested sandbox, have no name`() async throws {
        let service = try await Service()
        let forged = ApplicationSandbox.mark(of: "org.victim.Bank", instance: "7")
        let file = try service.directory.write(forged, to: "forged")
        let shell = { (command: [String]) in ["sh", "-c", "\"$@\" 9<\"$0\"; exit", file] + command }
        let mark = ["--file", "9"]
        #expect(
            await service.answer { shell(Self.plainSandbox(mark) + $0) } == "nobody, confined")
        // The app has a folder of its own among the records, and can write it.
        let folder = "\(service.runtime)/.flatpak/org.evil.App/xdg-run/forged"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let lead = ApplicationSandbox.mark(
            of: "org.victim.Bank", instance: "org.evil.App/xdg-run/forged")
        try lead.write(toFile: file, atomically: false, encoding: .utf8)
        try lead.write(toFile: folder + "/info", atomically: false, encoding: .utf8)
        try "\(getpid())".write(toFile: folder + "/pid", atomically: false, encoding: .utf8)
        #expect(
            await service.answer { shell(Self.plainSandbox(mark) + $0) } == "nobody, confined")
        let nested = Self.plainSandbox([]) + Self.plainSandbox(mark)
        #expect(await service.answer { shell(nested + $0) } == "nobody, confined")
    }

    /// A sandbox with the bus's own socket.
    ///
    /// - Parameter mark: What begins the option of bwrap that makes the mark; empty for none.
    private static func plainSandbox(_ mark: [String]) -> [String] {
        ["bwrap", "--ro-bind", "/usr", "/usr"]
            + ["lib", "lib64", "bin"].flatMap { ["--symlink", "usr/\($0)", "/\($0)"] }
            + ["--bind", "/tmp", "/tmp", "--proc", "/proc", "--dev-bind", "/dev", "/dev"]
            + (mark.isEmpty ? [] : mark + ["/.flatpak-info"])
    }

    /// What is known about the process to which the bus refers.
    enum Reference: CaseIterable {
        /// It is the one that connected, and it runs.
        case toRunning
        /// It is the one that connected, and it has ended.
        case toEnded
        /// The bus gives its number only, and does not confirm that its connection is still there.
        case numberOnly
    }

    @Test(
        .enabled(if: ApplicationSandbox.isAvailable, ApplicationSandbox.skipped),
        arguments: Reference.allCases)
    func `Only a process that is certain to be the caller gives it a name`(
        _ reference: Reference
    ) async throws {
        let (fake, directory) = (try await FakeBus(), try TemporaryDirectory())
        await Self.serve(on: fake.service, runtimeDirectory: directory.path)
        let sandbox = try ApplicationSandbox(
            "org.example.App", .wholeBus, bus: "unix:path=/dev/null",
            runtimeDirectory: directory.path)
        let program = try ChildProcess(
            ["sh", "-c", "exec \"$@\" 3>&1", "sh"]
                + sandbox.command(
                    ["sh", "-c", "echo ready; exec sleep 1000"], options: ["--json-status-fd", "3"]),
            output: .lines)
        let status = try #require(program.lines?.next())
        #expect(program.lines?.next() == "ready")
        let process = try #require(
            status.firstMatch(of: /"child-pid": (\d+)/).flatMap { Int32($0.1) })
        let descriptor = try #require(ProcessReference.make(process))
        if reference == .toEnded {
            kill(process, SIGKILL)
            var entry = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
            #expect(poll(&entry, 1, -1) == 1)
        }
        var questions = fake.questions.makeAsyncIterator()
        async let reply = fake.call(from: ":1.7", "Who")
        #expect(await questions.next() == "credentials :1.7")
        var facts: [(String, Value)] = [
            ("UnixUserID", .uint32(geteuid())), ("ProcessID", .uint32(UInt32(process))),
        ]
        if reference != .numberOnly { facts.append(("ProcessFD", .unixFD(descriptor))) }
        try await fake.answer("credentials :1.7", facts)
        let name = reference == .toRunning ? "org.example.App" : "nobody"
        #expect(try await reply == [.string("\(name), confined")])
    }

    @Test(.enabled(if: ApplicationSandbox.isAvailable, ApplicationSandbox.skipped))
    func `An app at the other end of a peer's socket is known`() async throws {
        let (socket, directory) = (try ListeningSocket(), try TemporaryDirectory())
        let loop = try EventLoop.startThread(named: "peer")
        defer { loop.stop() }
        let sandbox = try ApplicationSandbox(
            "org.example.App", .wholeBus, bus: "unix:path=\(socket.path)",
            runtimeDirectory: directory.path)
        let command = sandbox.command([
            "/usr/bin/python3", "-c",
            """
            from gi.repository import Gio
            bus = Gio.DBusConnection.new_for_address_sync(
                "unix:path=/run/bus", Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT, None, None)
            print(bus.call_sync(None, "/", "a.Service", "Who", None, None, 0, -1, None).unpack()[0])
            """,
        ])
        async let result = ProgramResult.running(command)
        let accepted = try await socket.accept()
        let service = try await Connection.open(
            serving: accepted, on: loop, [Self.interface],
            among: FlatpakInstances(runtimeDirectory: directory.path))
        let answer = await result
        #expect(answer.output == "org.example.App, confined\n", "\(answer.error)")
        await service.close()
    }

    // MARK: A root directory that never answers

    /// Connects, then makes a file system whose program never answers its root directory, and calls.
    private static let unanswering = """
        import ctypes, os, struct, sys, threading
        from gi.repository import Gio, GLib
        bus = Gio.bus_get_sync(Gio.BusType.SESSION)
        libc = ctypes.CDLL(None, use_errno=True)
        def check(result):
            if result != 0: sys.exit(os.strerror(ctypes.get_errno()))
        check(libc.unshare(0x20000))
        check(libc.mount(b"none", b"/", None, 0x44000, None))
        fuse = os.open("/dev/fuse", os.O_RDWR)
        options = f"fd={fuse},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()}"
        check(libc.mount(b"none", sys.argv[1].encode(), b"fuse", 0, options.encode()))
        def serve():
            while True:
                request = os.read(fuse, 1 << 20)
                size, operation, number = struct.unpack_from("<IIQ", request)
                if operation == 26:  # INIT
                    body = struct.pack("<IIIIHHIIHH", 7, 31, 1 << 16, 0, 8, 6, 1 << 16, 1, 0, 0)
                    body += bytes(64 - len(body))
                    os.write(fuse, struct.pack("<IiQ", 16 + len(body), 0, number) + body)
                elif operation == 34:  # ACCESS: not implemented
                    os.write(fuse, struct.pack("<IiQ", 16, -38, number))
        threading.Thread(target=serve, daemon=True).start()
        os.chroot(sys.argv[1])
        answer = bus.call_sync("org.defaultsd.Defaults1", "/", "a.Service", "Who", None, None, 0, -1, None)
        print(answer.unpack()[0], flush=True)
        os._exit(0)
        """

    private static let canMountFUSE = geteuid() == 0 && access("/dev/fuse", R_OK | W_OK) == 0

    @Test(.enabled(if: canMountFUSE, "only root can mount a file system, and FUSE is needed"))
    func `A root directory that nobody answers for does not stop the service`() async throws {
        let service = try await Service()
        let folder = service.directory.path + "/unanswering"
        mkdir(folder, 0o700)
        let result = await ProgramResult.running(
            HangGuard.command + ["/usr/bin/python3", "-c", Self.unanswering, folder],
            environment: service.environment)
        #expect(result.output == "nobody, confined\n", "\(result.error)")
    }

    // MARK: Flatpak itself

    @Test(.enabled(if: FlatpakApplication.obstacle == nil, FlatpakApplication.skipped))
    func `An app of a real Flatpak is known, whichever way it reaches the bus`() async throws {
        let service = try await Service()
        let talk = try FlatpakApplication("org.example.Talk")
        #expect(await service.answer { talk.command($0) } == "org.example.Talk, confined")
        let whole = try FlatpakApplication("org.example.Whole", .wholeBus)
        #expect(await service.answer { whole.command($0) } == "org.example.Whole, confined")
        let silent = try FlatpakApplication("org.example.Silent", .nothing)
        #expect(await service.answer { silent.command($0) } == Self.serviceUnknown)
    }

    @Test(.enabled(if: FlatpakApplication.obstacle == nil, FlatpakApplication.skipped))
    func `An app of a real Flatpak hears signals`() async throws {
        let service = try await Service()
        let application = try FlatpakApplication("org.example.Talk")
        let command = application.command(SandboxProgram.listen(to: "a.Service"))
        let environment = service.environment
        let listener = try await Task.detached {
            try SandboxListener(command, environment: environment)
        }.value
        try await service.connection.emit("/", "a.Service", "Rang") { try $0.writeUInt32(7) }
        let heard = await Task.detached { listener.next() }.value
        #expect(heard == "Rang (7,)")
    }
}

extension ApplicationSandbox {
    static var skipped: Comment { Comment(rawValue: reason) }
}

extension FlatpakApplication {
    static var skipped: Comment { Comment(rawValue: obstacle ?? "") }
}

extension Connection {
    /// Identifies callers, as a service with this runtime directory does.
    fileprivate func identifyCallers(inRuntimeDirectory path: String) {
        identifyCallers(
            by: ProcessExaminer(among: FlatpakInstances(runtimeDirectory: path)))
    }
}
