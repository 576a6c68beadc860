import Foundation
import Glibc

/// A sandbox like that of a Flatpak app, made by bubblewrap and xdg-dbus-proxy without Flatpak.
///
/// It has what a service sees of a Flatpak: programs in it reach the bus by a proxy, which runs in a
/// sandbox of its own; both sandboxes have the mark `/.flatpak-info` in memory; and the record of the
/// instance is in the runtime directory.
public final class ApplicationSandbox: Sendable {
    /// How its programs reach the bus.
    public enum Access: Sendable {
        /// By a proxy, which lets through what its rules name.
        case proxy(rules: [String])
        /// By the bus's own socket.
        case wholeBus

        /// By a proxy, as with `--talk-name=org.defaultsd.Defaults1`.
        public static let talk = proxy(rules: ["--talk=org.defaultsd.Defaults1"])
        /// By a proxy, without a permission.
        public static let nothing = proxy(rules: [])
    }

    /// Whether such a sandbox can be made here.
    public static let isAvailable =
        ProgramResult.run(["bwrap", "--ro-bind", "/", "/", "true"]).status == 0
        && ProgramResult.run(["xdg-dbus-proxy", "--version"]).status == 0
    /// Why tests are skipped without it.
    public static let reason = "bwrap cannot make a sandbox here, or xdg-dbus-proxy is missing"

    /// What Flatpak would write for the instance.
    public let mark: String
    /// The directory of the instance's record.
    public let record: String
    private let busSocket: String
    private let sockets: TemporaryDirectory
    private let markFile: String
    private let proxy: ChildProcess?

    /// Makes it, and waits until its proxy listens.
    ///
    /// - Parameters:
    ///   - application: The ID of the app.
    ///   - bus: The address of the bus.
    ///   - runtimeDirectory: That of the service.
    public init(
        _ application: String, _ access: Access = .talk, bus: String, runtimeDirectory: String
    ) throws {
        let instance = String(UInt32.random(in: 1 ... .max))
        mark = Self.mark(of: application, instance: instance)
        record = "\(runtimeDirectory)/.flatpak/\(instance)"
        sockets = try TemporaryDirectory()
        markFile = try sockets.write(mark, to: "mark")
        try FileManager.default.createDirectory(atPath: record, withIntermediateDirectories: true)
        try mark.write(toFile: "\(record)/info", atomically: false, encoding: .utf8)
        try "\(getpid())".write(toFile: "\(record)/pid", atomically: false, encoding: .utf8)
        guard case .proxy(let rules) = access else {
            busSocket = Self.path(ofAddress: bus)
            proxy = nil
            return
        }
        busSocket = "\(sockets.path)/bus"
        // The proxy writes a byte to a descriptor when it listens, and ends when the other end is closed.
        let filter = ["xdg-dbus-proxy", "--fd=1", bus, busSocket, "--filter"] + rules
        let proxy = try ChildProcess(
            Self.parent(["bwrap"] + Self.hostFolders() + Self.marking + filter, mark: markFile),
            output: .lines)
        guard proxy.lines?.waitForByte() == true else {
            throw ProgramFailure(
                result: ProgramResult(
                    status: proxy.waitUntilExit(), output: "", error: "There is no proxy."))
        }
        self.proxy = proxy
    }

    deinit {
        try? FileManager.default.removeItem(atPath: record)
    }

    /// The mark of an app.
    public static func mark(of application: String, instance: String) -> String {
        """
        [Application]
        name=\(application)
        runtime=runtime/org.example.Platform/any/1

        [Instance]
        instance-id=\(instance)
        branch=1
        session-bus-proxy=true

        [Session Bus Policy]
        org.defaultsd.Defaults1=talk

        """
    }

    /// What runs a program in it.
    ///
    /// - Parameter options: More of bwrap's.
    public func command(_ program: [String], options: [String] = []) -> [String] {
        let folders = ["lib", "lib64", "bin"].flatMap { ["--symlink", "usr/\($0)", "/\($0)"] }
        let sandbox =
            ["bwrap", "--ro-bind", "/usr", "/usr"] + folders + [
                "--proc", "/proc", "--dev", "/dev", "--unshare-pid", "--bind", busSocket,
                "/run/bus", "--setenv", "DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/bus",
            ]
        return Self.parent(sandbox + Self.marking + options + program, mark: markFile)
    }

    private static let marking = [
        "--die-with-parent", "--perms", "0600", "--file", "9", "/.flatpak-info",
    ]

    /// A shell that is the parent of a sandbox and gives it the mark as descriptor 9.
    ///
    /// The sandbox ends with its parent. For the system, the parent is a thread, and threads of the tests
    /// come and go.
    private static func parent(_ command: [String], mark: String) -> [String] {
        ["sh", "-c", "\"$@\" 9<\"$0\"; exit", mark] + command
    }

    /// What a proxy sees: all of the host but its devices.
    private static func hostFolders() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/")
            .filter { !["dev", "proc", "sys"].contains($0) && !$0.hasPrefix(".") }
            .flatMap { ["--bind", "/" + $0, "/" + $0] }
    }

    private static func path(ofAddress address: String) -> String {
        let path = address.split(separator: ",").first?.split(separator: "=").last ?? ""
        return String(path)
    }
}

/// Programs that apps in a sandbox run in tests.
public enum SandboxProgram {
    /// Calls a method of an object of the service by gdbus.
    ///
    /// - Parameters:
    ///   - method: Interface and member.
    ///   - arguments: As GVariant text.
    public static func call(
        _ method: String, at path: String, _ arguments: [String]
    ) -> [String] {
        [
            "gdbus", "call", "--session", "--dest", "org.defaultsd.Defaults1", "--object-path",
            path, "--method", method, "--",
        ] + arguments
    }

    /// Prints `listening`, and then each signal of an interface that it hears: the member and the
    /// arguments.
    ///
    /// Its match rule names no sender.
    public static func listen(to interface: String) -> [String] {
        let program = """
            import sys
            from gi.repository import Gio, GLib
            bus = Gio.bus_get_sync(Gio.BusType.SESSION)
            def hear(bus, sender, path, interface, member, arguments):
                print(member, arguments.print_(False), flush=True)
            bus.signal_subscribe(None, sys.argv[1], None, None, None, Gio.DBusSignalFlags.NONE, hear)
            # The bus answers in order, so it has the match rule by then.
            bus.call_sync("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                          "GetId", None, None, 0, -1)
            print("listening", flush=True)
            GLib.MainLoop().run()
            """
        return ["/usr/bin/python3", "-c", program, interface]
    }
}

/// A program in a sandbox that listens to signals.
public final class SandboxListener: Sendable {
    private let process: ChildProcess
    /// Lives as long as the program.
    private let sandbox: ApplicationSandbox?

    /// Starts it, and waits until it listens.
    ///
    /// - Parameters:
    ///   - command: What runs ``SandboxProgram/listen(to:)`` in a sandbox.
    ///   - sandbox: The sandbox, if nobody else owns it.
    public init(
        _ command: [String], environment: [String: String]? = nil,
        in sandbox: ApplicationSandbox? = nil
    ) throws {
        process = try ChildProcess(command, environment: environment, output: .lines)
        self.sandbox = sandbox
        guard process.lines?.next() == "listening" else {
            throw ProgramFailure(
                result: ProgramResult(
                    status: process.waitUntilExit(), output: "", error: "It does not listen."))
        }
    }

    /// The next signal, once it has come: its member and its arguments as GVariant text.
    ///
    /// - Returns: Nil if the program has ended.
    public func next() -> String? { process.lines?.next() }
}
