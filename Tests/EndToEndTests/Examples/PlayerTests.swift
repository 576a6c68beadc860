import TestTiers
import Testing

/// The examples of GTK, Qt, a shell script and Rust, which share the settings of a player.
///
/// `Tests/Examples` builds them and has the trials.
@Suite(.startsPrograms) struct PlayerTests {
    @Test func `What a user changes in one example shows in the others`() {
        TrialProgram.run("Tests/Examples/examples-test", "--library", TrialProgram.library)
    }
}
