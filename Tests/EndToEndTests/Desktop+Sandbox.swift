import Foundation
import TestSupport

/// Callers in a sandbox, such as Flatpak makes.
extension Desktop {
    /// Whether one can be made here, which takes namespaces of one's own.
    static let sandboxIsAvailable =
        ProgramResult.run(["bwrap", "--ro-bind", "/", "/", "true"]).status == 0

    /// Calls a method by gdbus from inside a sandbox.
    ///
    /// - Parameter method: Interface and member.
    func callFromSandbox(_ method: String, _ arguments: String...) throws -> ProgramResult {
        try callFromSandbox(method, arguments)
    }

    func callFromSandbox(_ method: String, _ arguments: [String]) throws -> ProgramResult {
        let information = try directory.write(
            "[Application]\nname=org.example.App\n", to: "flatpak-info")
        return run(
            [
                "bwrap", "--ro-bind", "/usr", "/usr", "--symlink", "usr/lib", "/lib",
                "--symlink", "usr/lib64", "/lib64", "--symlink", "usr/bin", "/bin", "--proc",
                "/proc", "--dev", "/dev", "--bind", "/tmp", "/tmp", "--ro-bind", information,
                "/.flatpak-info", "gdbus", "call", "--session", "--dest",
                "org.defaultsd.Defaults1", "--object-path", "/org/defaultsd/Defaults1",
                "--method", method, "--",
            ] + arguments)
    }

    /// What runs a program in a sandbox that sees all files.
    func wholeSandbox() throws -> [String] {
        let information = try directory.write(
            "[Application]\nname=org.example.App\n", to: "flatpak-info")
        let folders = try FileManager.default.contentsOfDirectory(atPath: "/")
            .filter { !["dev", "proc", "sys"].contains($0) && !$0.hasPrefix(".") }
        return ["bwrap"] + folders.flatMap { ["--bind", "/" + $0, "/" + $0] }
            + ["--proc", "/proc", "--dev", "/dev", "--ro-bind", information, "/.flatpak-info"]
    }
}
