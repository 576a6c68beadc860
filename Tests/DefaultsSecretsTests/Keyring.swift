import DBus
import Foundation
import Glibc
import TestSupport

@testable import DefaultsSecrets

/// A real gnome-keyring-daemon on a bus of its own, with a home of its own, and a user who answers
/// its questions as told.
///
/// The bus starts the daemon when somebody calls it, also again.
final class Keyring: Sendable {
    /// Why it cannot run here; nil where it can.
    static let obstacle: String? = {
        // That it is there does not say that it may run: its file has a capability.
        let needed = [
            ["gnome-keyring-daemon", "--version"], ["/usr/bin/python3", "-c", User.loading],
            ["sh", "-c", "command -v secret-tool"], ["gdbus", "help"],
        ]
        for command in needed where ProgramResult.run(command).status != 0 {
            return "\(command.joined(separator: " ")) does not work here"
        }
        return nil
    }()
    static var canRun: Bool { obstacle == nil }

    let bus: PrivateBus
    private let home: TemporaryDirectory
    private let services: TemporaryDirectory
    private let user: User
    private let environment: [String: String]

    /// - Parameter password: That of a login, which has unlocked the user's keyring; nil where there
    ///   was none, so that the user has no keyring yet.
    init(loginPassword password: String? = "swordfish") throws {
        home = try TemporaryDirectory()
        services = try TemporaryDirectory()
        let script = try home.write(
            """
            export GNOME_KEYRING_TEST_PROMPTER=$(cat $HOME/prompter)
            set -- gnome-keyring-daemon --foreground --components=secrets
            if test -e $HOME/password
            then exec "$@" --unlock <$HOME/password
            else exec "$@"
            fi
            """, to: "start")
        try services.write(
            "[D-BUS Service]\nName=org.freedesktop.secrets\nExec=/bin/sh \(script)\n",
            to: "org.freedesktop.secrets.service")
        if let password { try home.write(password, to: "password") }
        let plain = [
            "HOME": home.path, "XDG_DATA_HOME": home.path, "XDG_RUNTIME_DIR": home.path,
            "PATH": "/usr/bin:/bin",
        ]
        bus = try PrivateBus(serviceDirectory: services.path, environment: plain)
        environment = plain.merging(["DBUS_SESSION_BUS_ADDRESS": bus.address]) { $1 }
        user = try User(environment: environment, home: home)
        try home.write(user.name, to: "prompter")
    }

    /// Secrets that share nothing with any others but the keyring.
    func secrets(_ domain: String = "org.example.Game") -> Secrets {
        // A machine that is busy is no reason for an error.
        let vault = KeyringVault(on: .address(bus.address), timeout: .seconds(3600))
        return Secrets(store: SecretStore(domain: domain, vault: vault))
    }

    /// Tells what the user does with the next question.
    func user(_ deed: User.Deed) { user.expect(deed) }

    /// Does what makes a keyring, for which the user types a password.
    ///
    /// One time in some 256 gnome-keyring cannot import the key that it has made, and says that the
    /// user has dismissed the question.
    func making(_ body: () async throws -> Void) async throws {
        for _ in 1...3 {
            user(.types(password: "new"))
            do {
                return try await body()
            } catch let error as SecretsError {
                guard error.code == .dismissed else { throw error }
            }
        }
        user(.types(password: "new"))
        try await body()
    }

    /// Whether a question that the user was told of has not come yet.
    var hasQuestionsLeft: Bool { user.isExpecting }

    /// Runs a program that takes the bus for the session's.
    func run(_ command: [String], input: String = "") async -> ProgramResult {
        await ProgramResult.running(command, environment: environment, input: input)
    }

    /// Calls a method of the service with another client.
    @discardableResult
    func call(_ object: String, _ method: String, _ arguments: String...) async throws -> String {
        try await run(
            [
                "gdbus", "call", "--session", "--dest", "org.freedesktop.secrets",
                "--object-path", "/org/freedesktop/secrets\(object)", "--method",
                "org.freedesktop.Secret.\(method)",
            ] + arguments
        ).requireOutput()
    }

    /// Locks all keyrings.
    func lock() async throws {
        try await call(
            "", "Service.Lock", "[objectpath '/org/freedesktop/secrets/aliases/default']")
    }

    /// The daemon's process.
    func process() async throws -> pid_t {
        let text = try await callBus(
            "org.freedesktop.DBus.GetConnectionUnixProcessID", "org.freedesktop.secrets")
        let digits = text.split(separator: " ").last?.prefix { $0.isNumber }
        guard let process = digits.flatMap({ pid_t($0) }) else {
            throw CocoaError(.featureUnsupported)
        }
        return process
    }

    /// Ends the daemon as a crash does, and returns when the bus has noticed.
    func crash() async throws {
        kill(try await process(), SIGKILL)
        // The bus answers this when it has closed the daemon's connection, or starts another.
        _ = try await callBus("org.freedesktop.DBus.Peer.Ping")
    }

    private func callBus(_ method: String, _ arguments: String...) async throws -> String {
        try await run(
            [
                "gdbus", "call", "--session", "--dest", "org.freedesktop.DBus", "--object-path",
                "/", "--method", method,
            ] + arguments
        ).requireOutput()
    }
}
