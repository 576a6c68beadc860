import Foundation
import TestSupport
import Testing

/// The installed programs on a clean Debian, as `Tests/CleanRoot` has it.
@Suite struct CleanRootTests {
    /// What `clean-root` ends with if this machine cannot make a clean system.
    private static let skipped: Int32 = 77

    private static let script = Desktop.packageDirectory + "Tests/CleanRoot/clean-root"

    /// Why this machine cannot make a clean system; nil if it can.
    static let obstacle: String? = {
        guard geteuid() == 0 else { return "only root can make a clean system" }
        let mounts = ProgramResult.run(["unshare", "--mount", "--pid", "--fork", "true"])
        guard mounts.status == 0 else { return "this system allows no mounts" }
        let kept = Desktop.packageDirectory + ".build/clean-root/packages"
        let canMake = ProgramResult.run(["sh", "-c", "command -v debootstrap"]).status == 0
        guard canMake || FileManager.default.fileExists(atPath: kept) else {
            return "debootstrap is missing"
        }
        return nil
    }()

    @Test(.enabled(if: obstacle == nil, "\(obstacle ?? "")"))
    func `On a clean system every command line does what its table says`() {
        let result = ProgramResult.run(HangGuard.command + [Self.script])
        // What is left is a mirror of Debian that cannot be reached, which is seen only by the attempt.
        if result.status == Self.skipped, result.error.contains("debootstrap failed") {
            return print("skipped: the clean system: \(result.error)")
        }
        #expect(result.status == 0, "\(result.output)\(result.error)")
    }
}
