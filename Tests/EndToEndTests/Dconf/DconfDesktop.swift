import Foundation
import Glibc
import TestSupport
import Testing

/// A desktop on which dconf's service is either defaultsd or the real one.
final class DconfDesktop {
    /// Which one.
    enum Service: CaseIterable {
        case defaultsd, dconf
    }

    let desktop: Desktop
    let service: Service
    /// The file that programs read.
    var file: String { desktop.directory.path + "/config/dconf/user" }

    /// - Parameter service: What the bus starts for the name.
    init(_ service: Service = .defaultsd) throws {
        self.service = service
        let options = service == .defaultsd ? "--serve dconf" : ""
        desktop = try Desktop(daemonOptions: options)
        let services = desktop.directory.path + "/services"
        let own = try String(
            contentsOfFile: services + "/org.defaultsd.Defaults1.service", encoding: .utf8)
        let other = "[D-BUS Service]\nName=ca.desrt.dconf\nExec=\(RealDconf.program ?? "")\n"
        let text = own.replacing("Name=org.defaultsd.Defaults1", with: "Name=ca.desrt.dconf")
        try (service == .defaultsd ? text : other).write(
            toFile: services + "/ca.desrt.dconf.service", atomically: true, encoding: .utf8)
        _ = try desktop.askBus("ReloadConfig")
    }

    /// Runs the program `dconf`.
    @discardableResult
    func dconf(_ arguments: String..., input: String = "") -> ProgramResult {
        desktop.run(["dconf"] + arguments, input: input)
    }

    /// What `dconf read` prints.
    func read(_ path: String) -> String {
        dconf("read", path).output.trimmingCharacters(in: .newlines)
    }

    /// Runs `gsettings` with GIO's own module for dconf.
    @discardableResult
    func gsettings(_ arguments: String...) -> ProgramResult {
        var environment = desktop.environment
        environment["GSETTINGS_BACKEND"] = "dconf"
        environment["GIO_EXTRA_MODULES"] = nil
        return desktop.run(["gsettings"] + arguments, environment: environment)
    }

    /// Calls a method of the writer.
    func call(_ method: String, _ arguments: [String], in sandbox: [String] = []) -> ProgramResult {
        desktop.run(
            sandbox + [
                "gdbus", "call", "--session", "--dest", "ca.desrt.dconf", "--object-path",
                "/ca/desrt/dconf/Writer/user", "--method", "ca.desrt.dconf.Writer.\(method)", "--",
            ] + arguments)
    }

    /// Starts to watch a path.
    ///
    /// Changes after this returns are seen.
    func watch(_ path: String) throws -> ChildProcess {
        let watch = try desktop.start("dconf", "watch", path)
        try desktop.waitForMatchRule(containing: "arg0path='\(path)'")
        return watch
    }

    /// The lines of a watch up to the one for the next change of a path that nothing else changes.
    func changes(_ watch: ChildProcess, below path: String) throws -> [String] {
        marks += 1
        try dconf("write", "\(path)mark", "\(marks)").requireOutput()
        var lines: [String] = []
        while let line = watch.lines?.next() {
            if line == "  \(marks)", lines.last == "\(path)mark" {
                return Array(lines.dropLast().filter { !$0.isEmpty })
            }
            lines.append(line)
        }
        throw NeverCame()
    }

    private var marks = 0
}
