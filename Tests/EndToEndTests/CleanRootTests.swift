import TestSupport
import Testing

/// The installed programs on a clean Debian, as `Tests/CleanRoot` has it.
@Suite struct CleanRootTests {
    /// What `clean-root` ends with if this machine cannot make a clean system.
    private static let skipped: Int32 = 77

    @Test func `On a clean system every command line does what its table says`() {
        let result = ProgramResult.run(
            ["timeout", "900", Desktop.packageDirectory + "Tests/CleanRoot/clean-root"])
        if result.status == Self.skipped { return print(result.error) }
        #expect(result.status == 0, "\(result.output)\(result.error)")
    }
}
