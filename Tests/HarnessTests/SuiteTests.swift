import Foundation
import TestSupport
import TestTiers
import Testing

/// The program that runs all tests, `Tests/Harness/suite`.
@Suite(.startsPrograms) struct SuiteTests {
    private static let harness = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Harness")
        .path(percentEncoded: false)

    /// Runs a program in place of the tests, in which a test `M.S/t()` is said to run, and prints what was wrong.
    ///
    /// The clock of the harness stands still until the program calls `pass_time`. The harness has looked before it
    /// and after it. A test is idle after two seconds.
    private func watch(_ tests: String) throws -> String {
        let program = """
            import io, os, pathlib, sys, tempfile
            sys.path.append(sys.argv[1])
            from testrun import TestRun
            beginning = '''
            import json, os, subprocess, sys, time
            test = "M.S/t()"
            environment = os.environ | {"DEFAULTSD_TEST": test}
            def tell(kind):
                event = {"kind": kind, "testID": test, "_testCase": {"displayName": "1"}}
                with open(sys.argv[sys.argv.index("--event-stream-output-path") + 1], "a") as file:
                    file.write(json.dumps({"kind": "event", "payload": event}) + "\\\\n")
            def end_of_test(name, symbol):
                record = {"kind": "function", "id": name, "isParameterized": True}
                event = {"kind": "testEnded", "testID": name, "messages": [{"symbol": symbol, "text": ""}]}
                with open(sys.argv[sys.argv.index("--event-stream-output-path") + 1], "a") as file:
                    for kind, payload in ("test", record), ("event", event):
                        file.write(json.dumps({"kind": kind, "payload": payload}) + "\\\\n")
            def wait_for_looks():
                until = os.path.getsize(os.environ["LOOKS"]) + 2
                while os.path.getsize(os.environ["LOOKS"]) < until:
                    time.sleep(0.01)
            def pass_time(seconds):
                wait_for_looks()
                with open(os.environ["TIME"], "a") as file:
                    file.write("." * seconds)
                wait_for_looks()
            tell("testCaseStarted")
            '''
            with tempfile.NamedTemporaryFile() as looks, tempfile.NamedTemporaryFile() as time:
                def clock():
                    looks.write(b".")
                    looks.flush()
                    return os.path.getsize(time.name)
                run = TestRun([sys.executable, "-c", beginning + sys.argv[2]], pathlib.Path("/"),
                              os.environ | {"LOOKS": looks.name, "TIME": time.name}, io.BytesIO(),
                              idle=2, look=0.02, clock=clock)
                run.run()
            print(run.status, *run.issues, sep="\\n")
            if run.passed or run.failed:
                print(run.passed, run.failed)
            """
        return try ProgramResult.run(["/usr/bin/python3", "-B", "-c", program, Self.harness, tests])
            .requireOutput()
    }

    @Test func `A test whose programs do nothing is named, and its programs are ended`() throws {
        let report = try watch(
            "program = subprocess.Popen(['sleep', '1000'], env=environment); pass_time(3); program.wait()"
        )
        #expect(report.hasPrefix("1\nM.S/t() (1) did nothing"), "\(report)")
        #expect(report.contains("\n    sleep 1000"), "\(report)")
    }

    @Test func `A test that waits without a program ends the run`() throws {
        let report = try watch("pass_time(3)")
        #expect(report.hasPrefix("-9\nM.S/t() (1) did nothing"), "\(report)")
        #expect(report.contains("The run was ended."), "\(report)")
    }

    @Test func `A test whose cases come and go is not idle, however little each does`() throws {
        let report = try watch(
            "for _ in range(10): tell('testCaseEnded'); tell('testCaseStarted'); pass_time(2)")
        #expect(report == "0\n")
    }

    @Test func `A test that has ended is not watched any more`() throws {
        let report = try watch("tell('testCaseEnded'); pass_time(100)")
        #expect(report == "0\n")
    }

    @Test func `Tests are counted by their events, also where a line of the output is torn`() throws
    {
        let report = try watch(
            """
            print('Test case passing 1 argument ✔ Test "a" passed after 1 seconds.')
            end_of_test('a', 'pass'); end_of_test('b', 'passWithKnownIssue'); end_of_test('c', 'fail')
            """)
        #expect(report == "0\n2 1\n")
    }

    @Test func `Each suite that starts programs is found, also one with more traits`() throws {
        let program = """
            import sys
            sys.path.append(sys.argv[1])
            from tiers import suites_that_start_programs
            print(*suites_that_start_programs(), sep="\\n")
            """
        let suites = try ProgramResult.run(["/usr/bin/python3", "-B", "-c", program, Self.harness])
            .requireOutput().split(separator: "\n")
        #expect(suites.contains("HarnessTests.SuiteTests"))
        #expect(suites.contains("HarnessTests.TestThreadTests"))
        #expect(!suites.contains("DefaultsModelTests.KeyTests"))
        // Its traits are on several lines, with calls among them.
        #expect(suites.contains("EndToEndTests.FullDiskTests"))
        // Its name has a keyword of Swift in it.
        #expect(suites.contains("KeyedArchiveTests.CodingClassTests"))
    }
}
