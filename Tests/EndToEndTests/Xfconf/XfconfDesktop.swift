import Foundation
import Glibc
import TestSupport
import Testing

/// A desktop whose settings service of Xfce is either defaultsd or xfconfd.
final class XfconfDesktop {
    /// Which one.
    enum Service: CaseIterable {
        case defaultsd, xfconfd
    }

    /// Where xfconfd is; nil if it is not installed.
    static let xfconfd: String? = {
        let file = "/usr/share/dbus-1/services/org.xfce.Xfconf.service"
        let lines = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
        let path = lines.firstMatch(of: /Exec=(\S+)/).map { String($0.1) }
        return path.flatMap { FileManager.default.isExecutableFile(atPath: $0) ? $0 : nil }
    }()

    /// Whether xfconfd, xfconf-query and the bindings of libxfconf for Python are installed.
    static let isAvailable =
        xfconfd != nil && ProgramResult.run(["xfconf-query", "--version"]).status == 0
        && ProgramResult.run([
            "/usr/bin/python3", "-c", "import gi; gi.require_version('Xfconf', '0')",
        ]).status == 0
    static let missing = Comment(
        "xfconf is missing: apt-get install xfconf gir1.2-xfconf-0")

    let desktop: Desktop
    let service: Service
    private var xfconfd: ChildProcess?

    /// - Parameters:
    ///   - service: What owns the name.
    ///   - files: Files below the directory that `XDG_CONFIG_DIRS` names, with their contents.
    init(_ service: Service = .defaultsd, files: [String: String] = [:]) throws {
        self.service = service
        desktop = try Desktop(daemonOptions: service == .defaultsd ? "--serve xfconf" : "")
        for (name, contents) in files { try write(contents, to: name) }
        switch service {
        case .defaultsd: _ = try desktop.daemonPID()
        case .xfconfd:
            xfconfd = try ChildProcess([Self.xfconfd ?? ""], environment: desktop.environment)
        }
        try wait { try owner() != nil }
    }

    deinit {
        xfconfd?.send(SIGTERM)
    }

    /// The unique name of the connection that owns the name of Xfconf.
    func owner(of name: String = "org.xfce.Xfconf") throws -> String? {
        let answer = desktop.run(
            "gdbus", "call", "--session", "--dest", "org.freedesktop.DBus", "--object-path",
            "/org/freedesktop/DBus", "--method", "org.freedesktop.DBus.GetNameOwner", name)
        return answer.status == 0 ? answer.output : nil
    }

    /// Writes a file of a channel, as a package manager does.
    func write(_ contents: String, to name: String) throws {
        let folder = desktop.directory.path + "/xdg/xfce4/xfconf/xfce-perchannel-xml"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try contents.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
    }

    /// Calls a method of Xfconf's interface.
    @discardableResult
    func call(_ method: String, _ arguments: String...) -> ProgramResult {
        call(method, arguments)
    }

    @discardableResult
    func call(_ method: String, _ arguments: [String], in sandbox: [String] = []) -> ProgramResult {
        desktop.run(
            sandbox + [
                "gdbus", "call", "--session", "--dest", "org.xfce.Xfconf", "--object-path",
                "/org/xfce/Xfconf", "--method", "org.xfce.Xfconf.\(method)", "--",
            ] + arguments)
    }

    /// What a call comes to: the reply with entries in order, or the name of the error.
    func answer(_ method: String, _ arguments: [String]) -> String {
        let result = call(method, arguments)
        guard result.status == 0 else { return result.errorName ?? result.error }
        let line = result.output.trimmingCharacters(in: .newlines)
        guard line.hasPrefix("({") || line.hasPrefix("([") else { return line }
        return line.matches(of: /'[^']*'(: <.*?>(?=, '|}))?/).map { String($0.0) }.sorted()
            .joined(separator: " ")
    }

    /// Starts to listen to signals.
    ///
    /// Changes after this returns are received.
    func listen(in sandbox: [String] = []) throws -> ChildProcess {
        let before = try listeners()
        let monitor = try ChildProcess(
            sandbox + [
                "gdbus", "monitor", "--session", "--dest", "org.xfce.Xfconf", "--object-path",
                "/org/xfce/Xfconf",
            ], environment: desktop.environment, output: .lines)
        try wait { try listeners() > before }
        return monitor
    }

    /// How many rules for the signals the bus has.
    private func listeners() throws -> Int {
        try desktop.askBus("Debug.Stats.GetAllMatchRules").ranges(of: "path='/org/xfce/Xfconf'")
            .count
    }

    /// The signals up to the one for the next value of a property that nothing else changes.
    func signals(_ monitor: ChildProcess) throws -> [String] {
        marks += 1
        call("SetProperty", "mark", "/mark", "<\(marks)>")
        var signals: [String] = []
        while let line = monitor.lines?.next() {
            guard let signal = line.firstMatch(of: /org\.xfce\.Xfconf\.(Property.*)$/) else {
                continue
            }
            if line.contains("'/mark', <\(marks)>") { return signals }
            if !line.contains("'/mark'") { signals.append(String(signal.1)) }
        }
        throw NeverCame()
    }

    private var marks = 0
}
