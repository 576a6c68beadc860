import Foundation
import Glibc
import Synchronization

/// An app that is installed by Flatpak itself and run in its sandbox.
///
/// All apps are in one installation in a temporary directory, which needs neither a network nor rights: a
/// runtime that borrows the programs of the host (`host-os`), a repository, and a remote that leads to
/// it. As root, Flatpak needs nothing else either.
public struct FlatpakApplication: Sendable {
    /// What an app may do on the session's bus.
    public enum Access: String, Sendable {
        /// `--talk-name=org.defaultsd.Defaults1`
        case talk = "[Session Bus Policy]\norg.defaultsd.Defaults1=talk"
        /// Nothing.
        case nothing = ""
        /// `--socket=session-bus`
        case wholeBus = "sockets=session-bus;"
    }

    /// Its ID.
    public let id: String

    /// Installs it, once.
    ///
    /// - Parameter id: An ID, with the same permission each time.
    public init(_ id: String, _ access: Access = .talk) throws {
        self.id = id
        try installation.withLock { installation in
            let made = try installation ?? FlatpakInstallation()
            installation = made
            if !made.applications.contains(id) { try installation?.install(id, access) }
        }
    }

    /// Why Flatpak cannot be used here; nil if it can.
    public static let obstacle: String? = {
        do {
            let application = try FlatpakApplication("org.example.Probe", .nothing)
            let directory = try TemporaryDirectory()
            var environment = ProcessInfo.processInfo.environment
            environment["HOME"] = directory.path
            environment["XDG_RUNTIME_DIR"] = directory.path
            let command = application.command(["true"])
            try ProgramResult.run(command, environment: environment).requireOutput()
            return nil
        } catch {
            return "Flatpak does not work here: \(error)".replacing("\n", with: " ")
        }
    }()

    /// What runs a program in it, through the sandbox and the proxy that Flatpak makes.
    public func command(_ program: [String]) -> [String] {
        let folder = installation.withLock { $0?.userFolder ?? "" }
        let run = [
            "flatpak", "--user", "run", "--die-with-parent", "--no-a11y-bus",
            "--no-documents-portal", "--command=\(program[0])", id,
        ]
        // The shell is the parent with which the app ends: for the system, the parent is a thread,
        // and threads of the tests come and go.
        return ["env", "FLATPAK_USER_DIR=\(folder)", "sh", "-c", "\"$@\"; exit", "sh"]
            + run + program.dropFirst()
    }
}

private let installation = Mutex<FlatpakInstallation?>(nil)

/// The one installation of all tests.
private struct FlatpakInstallation {
    /// The path of a directory that all tests share.
    private let directory: String
    private let runtime: String
    private(set) var applications: Set<String> = []

    var userFolder: String { "\(directory)/flatpak" }

    init() throws {
        directory = try TemporaryDirectory.shared().path
        let system = try ProgramResult.run(["flatpak", "--default-arch"]).requireOutput()
        runtime = "org.example.Platform/\(system.split(separator: "\n").first ?? "")/1"
        let folder = try makeFolder("runtime", with: ["usr", "files", "var"])
        for name in ["bin", "lib", "lib64", "sbin"]
        where FileManager.default.fileExists(atPath: "/usr/\(name)") {
            try FileManager.default.createSymbolicLink(
                atPath: "\(folder)/usr/\(name)", withDestinationPath: "/run/host/usr/\(name)")
        }
        try """
        [Runtime]
        name=org.example.Platform
        runtime=\(runtime)
        sdk=\(runtime)

        """.write(toFile: "\(folder)/metadata", atomically: false, encoding: .utf8)
        try flatpak("build-export", "--runtime", repository, folder, "1")
        try flatpak("--user", "remote-add", "--no-gpg-verify", "tests", repository)
    }

    private var repository: String { "\(directory)/repository" }

    mutating func install(_ id: String, _ access: FlatpakApplication.Access) throws {
        let folder = try makeFolder(id, with: ["files", "export", "var"])
        try """
        [Application]
        name=\(id)
        runtime=\(runtime)
        sdk=\(runtime)

        [Context]
        filesystems=host-os;
        \(access.rawValue)

        """.write(toFile: "\(folder)/metadata", atomically: false, encoding: .utf8)
        // It runs no sandbox of its own to check what the app exports: that is nothing.
        try flatpak("build-export", "--disable-sandbox", repository, folder, "1")
        try flatpak("--user", "install", "--noninteractive", "tests", id)
        applications.insert(id)
    }

    private func makeFolder(_ name: String, with parts: [String]) throws -> String {
        let folder = "\(directory)/\(name)"
        for part in parts {
            try FileManager.default.createDirectory(
                atPath: "\(folder)/\(part)", withIntermediateDirectories: true)
        }
        return folder
    }

    private func flatpak(_ arguments: String...) throws {
        var environment = ProcessInfo.processInfo.environment
        environment["HOME"] = directory
        environment["FLATPAK_USER_DIR"] = userFolder
        try ProgramResult.run(["flatpak"] + arguments, environment: environment).requireOutput()
    }
}
