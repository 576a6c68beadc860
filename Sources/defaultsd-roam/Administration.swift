import DBus
@preconcurrency import Glibc
import RoamingPostgres
import Wording

/// The commands of a server's administrator.
enum Administration {
    /// Carries out a command, and prints what was done and what comes next.
    ///
    /// - Returns: The exit status.
    static func run(_ command: RoamOptions.ServerCommand) -> Int32 {
        do {
            let loop = try EventLoop(isInOwnProcess: true)
            nonisolated(unsafe) var status = EX_OK
            Task(executorPreference: loop) {
                do {
                    for line in try await lines(of: command, on: loop) { print(line) }
                } catch {
                    Main.complain("\(error)")
                    status = EX_UNAVAILABLE
                }
                loop.stop()
            }
            loop.run()
            return status
        } catch {
            Main.complain("\(error)")
            return EX_UNAVAILABLE
        }
    }

    private static func lines(
        of command: RoamOptions.ServerCommand, on loop: EventLoop
    ) async throws -> [String] {
        switch command {
        case .initialize(let address):
            let report = try await ServerSetup.initialize(at: address, on: loop)
            return self.lines(of: report)
        case .addUser(let name, let address):
            try await ServerSetup.addUser(name, at: address, on: loop)
            return [
                "\(name) may roam. On each machine: defaultsctl roam enable --server ADDRESS",
                "For sign-in with a password, set one in psql: \\password \(name)",
            ]
        case .addToken(let name, let address):
            let tokens = try await ServerSetup.addTokens(for: [name], at: address, on: loop)
            return tokens.map(\.text)
        case .removeUser(let name, let address, let withData):
            try await ServerSetup.removeUser(name, withData: withData, at: address, on: loop)
            return ["\(name) does not roam any more\(withData ? "; the data is removed" : "")."]
        case .users(let address):
            return try await ServerSetup.users(at: address, on: loop).map { user in
                let counts = [(user.keys, "key"), (user.bytes, "byte"), (user.machines, "machine")]
                    .map { count, noun in counted(count, noun) }
                return ([user.name] + counts + (user.mayRoam ? [] : ["may not roam"]))
                    .joined(separator: "  ")
            }
        }
    }

    private static func lines(of report: ServerSetup.Report) -> [String] {
        var lines = [
            report.versionBefore == report.version
                ? "The tables have version \(report.version) already."
                : "The tables have version \(report.version) now; before: \(report.versionBefore)."
        ]
        lines += report.warnings.map { "warning: \($0)" }
        lines += [
            "", "Next:", "1. Put these lines into pg_hba.conf, before all others:",
        ]
        lines += report.authenticationLines.map { "     \($0)" }
        lines += [
            "2. Reload the server, in psql: SELECT pg_reload_conf();",
            "3. For each user: defaultsd-roam server add-user NAME",
        ]
        return lines
    }
}
