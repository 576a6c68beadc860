import TestTiers
import Testing

/// The module for GSettings, with programs that use it.
///
/// `Tests/GSettings` has the trials.
@Suite(.startsPrograms, .serialized) struct GSettingsTests {
    @Test func `Programs of GSettings keep their settings in defaultsd, whatever happens`() {
        TrialProgram.run("Tests/GSettings/gsettings-test")
    }
}
