import TestTiers
import Testing

/// The library for C, with programs that use it.
///
/// `Tests/CDefaults` has the trials.
@Suite(.startsPrograms, .serialized) struct CDefaultsTests {
    @Test func `Programs in C keep their settings in defaultsd, whatever happens`() {
        TrialProgram.run("Tests/CDefaults/cdefaults-test", "--library", TrialProgram.library)
    }
}
