import Foundation
import Glibc
import TestSupport
import Testing

/// A desktop whose daemon is a backend of the Settings portal.
struct PortalDesktop {
    static let name = "org.freedesktop.impl.portal.desktop.defaultsd"
    static let domain = "org.freedesktop.appearance"

    let desktop: Desktop

    init() throws {
        desktop = try Desktop(daemonOptions: "--serve portal")
        _ = try desktop.daemonPID()
        try wait { try desktop.askBus("NameHasOwner", Self.name) == "(true,)\n" }
    }

    /// Calls a method of the backend's interface.
    func call(_ method: String, _ arguments: String..., in sandbox: [String] = []) -> ProgramResult
    {
        desktop.run(
            sandbox + [
                "gdbus", "call", "--session", "--dest", Self.name, "--object-path",
                "/org/freedesktop/portal/desktop", "--method", method, "--",
            ] + arguments)
    }

    /// The value of a setting as text, or the name of the error.
    func read(_ key: String, of namespace: String = domain, in sandbox: [String] = []) -> String {
        let result = call(
            "org.freedesktop.impl.portal.Settings.Read", namespace, key, in: sandbox)
        guard result.status == 0 else { return result.errorName ?? result.error }
        return String(result.output.dropFirst(2).dropLast(4))
    }

    /// The settings that patterns cover, as text.
    func readAll(_ patterns: String...) -> String {
        let list = patterns.map { "'\($0)'" }.joined(separator: ", ")
        let result = call("org.freedesktop.impl.portal.Settings.ReadAll", "@as [\(list)]")
        return result.status == 0
            ? String(result.output.dropFirst().dropLast(3)) : result.errorName ?? result.error
    }

    func write(_ words: String...) throws {
        try desktop.tool(["write", Self.domain] + words).requireOutput()
    }

    /// Starts to listen to signals.
    ///
    /// Changes after this returns are received.
    func listen(in sandbox: [String] = []) throws -> ChildProcess {
        let before = try listeners()
        let monitor = try ChildProcess(
            sandbox + [
                "gdbus", "monitor", "--session", "--dest", Self.name, "--object-path",
                "/org/freedesktop/portal/desktop",
            ], environment: desktop.environment, output: .lines)
        try wait { try listeners() > before }
        return monitor
    }

    private func listeners() throws -> Int {
        try desktop.askBus("Debug.Stats.GetAllMatchRules")
            .ranges(of: "path='/org/freedesktop/portal/desktop'").count
    }

    /// The next signal: the key and the value.
    func signal(_ monitor: ChildProcess) throws -> String {
        while let line = monitor.lines?.next() {
            let signal = line.firstMatch(
                of: /SettingChanged \('org.freedesktop.appearance', (.*)\)$/)
            if let signal { return String(signal.1) }
        }
        throw NeverCame()
    }
}
