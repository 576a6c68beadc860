import Foundation

/// Which test runs.
///
/// The programs that a test starts have its name in their environment. So `Tests/Harness/suite` can tell
/// which test a program belongs to, and see that a test's programs do nothing any more.
public enum RunningTest {
    /// The name of the test; nil outside of a suite that starts programs.
    @TaskLocal public static var name: String?

    /// A number for the name of a test, the same in each run: the lower half of its ``FNV`` number.
    public static func hash(of name: String) -> UInt32 {
        UInt32(truncatingIfNeeded: FNV.hash(of: name.utf8))
    }

    /// The variable of the environment with the name.
    static let variable = "DEFAULTSD_TEST"

    /// An environment with the name of the test.
    static func mark(_ environment: [String: String]) -> [String: String] {
        guard let name else { return environment }
        return environment.merging([variable: name]) { $1 }
    }
}

/// A test of the first tier has tried to start a program.
public struct ProgramsNotAllowed: Error, CustomStringConvertible {
    /// The program and its arguments.
    let command: [String]

    /// What to do.
    public var description: String {
        "Tests of the first tier start no programs, and this one starts \(command). "
            + "Its suite needs the trait .startsPrograms."
    }

    /// Throws if the tests that run are those of the first tier.
    static func check(_ command: [String]) throws {
        guard ProcessInfo.processInfo.environment["DEFAULTSD_TIER"] != "1" else {
            throw ProgramsNotAllowed(command: command)
        }
    }
}
