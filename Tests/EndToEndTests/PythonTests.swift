import TestTiers
import Testing

/// The package for Python.
///
/// `Tests/Python` installs it, and `Sources/Python/tests` has its tests.
@Suite(.startsPrograms) struct PythonTests {
    @Test func `The package installs, has types, and keeps settings in defaultsd`() {
        TrialProgram.run("Tests/Python/python-test", "--library", TrialProgram.library)
    }
}
