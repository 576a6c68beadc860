import Foundation
import Glibc
import SystemCalls
import TestSupport
import TestTiers
import Testing

@testable import DBus

/// What people call a program, by its file and its arguments.
@Suite struct ProgramNameTests {
    @Test(arguments: [
        // The name of the file, whatever the arguments are.
        ("/usr/bin/gedit", ["gedit", "notes.txt"], "gedit"),
        ("/usr/bin/gedit", [], "gedit"),
        ("/opt/python-tools/run", ["run", "script.py"], "run"),
        ("/usr/bin/shutter", ["shutter", "x"], "shutter"),
        // The file was replaced by an update while it ran.
        ("/usr/bin/gedit (deleted)", ["gedit"], "gedit"),
        ("/usr/bin/python3.13 (deleted)", ["python3", "/usr/bin/meld"], "meld"),
        // The script of an interpreter, by the path with which it was started.
        ("/usr/bin/python3.13", ["/usr/bin/python3", "/usr/bin/meld", "a", "b"], "meld"),
        ("/usr/bin/python3.13", ["python3", "-B", "-u", "./sync.py", "-c"], "sync.py"),
        ("/usr/bin/python3.13", ["python3", "-m", "http.server"], "http.server"),
        ("/usr/bin/bash", ["bash", "-e", "/home/a/bin/night"], "night"),
        ("/usr/bin/bash", ["bash", "--norc", "night"], "night"),
        ("/usr/bin/dash", ["/bin/sh", "/usr/bin/startx"], "startx"),
        ("/usr/bin/perl", ["perl", "-w", "/usr/bin/shutter"], "shutter"),
        ("/usr/bin/gjs-console", ["gjs", "/usr/share/app/main.js"], "main.js"),
        ("/usr/bin/lua5.4", ["lua", "theme.lua"], "theme.lua"),
        ("/usr/bin/node", ["node", "--expose-gc", "/srv/app.js"], "app.js"),
        // No script.
        ("/usr/bin/bash", ["-bash"], "bash"),
        ("/usr/bin/python3.13", ["python3"], "python3.13"),
        ("/usr/bin/python3.13", [], "python3.13"),
        // The system does not say.
        ("", ["anything"], ""),
    ])
    func `A program is called by its file, or by the script that it runs`(
        file: String, arguments: [String], name: String
    ) {
        #expect(ProgramName.of(file, arguments) == name)
    }

    @Test(arguments: [
        ("bash", ["-c", "TEXT"]), ("bash", ["-lc", "TEXT"]), ("bash", ["-e", "-c", "TEXT"]),
        ("bash", ["-ec", "TEXT"]), ("zsh", ["-ic", "TEXT"]), ("dash", ["-s", "TEXT"]),
        ("python3.13", ["-c", "TEXT"]), ("python3.13", ["-Bc", "TEXT"]),
        ("python3.13", ["-", "TEXT"]), ("perl", ["-ne", "TEXT"]), ("perl", ["-E", "TEXT"]),
        ("ruby", ["-e", "TEXT"]), ("php8.4", ["-r", "TEXT"]), ("lua5.4", ["-e", "TEXT"]),
        ("node", ["-p", "TEXT"]), ("node", ["--eval", "TEXT"]), ("node", ["--eval=TEXT", "TEXT"]),
        ("gjs-console", ["-c", "TEXT"]), ("gjs-console", ["--command", "TEXT"]),
    ])
    func `No part of a text in the command line becomes a name`(
        program: String, words: [String]
    ) {
        let words = words.map { $0.replacing("TEXT", with: "set Password a/secret") }
        #expect(ProgramName.of("/usr/bin/\(program)", [program] + words) == program)
    }

    @Test(arguments: ["\u{1F980}", "a", "\u{301}"])
    func `A name is not longer than the name of a file`(scalar: String) {
        let name = String(repeating: "n", count: 255)
        #expect(ProgramName.of("/opt/\(name)", []) == name)
        let script = "n" + String(repeating: scalar, count: 1000)
        let cut = ProgramName.of("/usr/bin/bash", ["bash", script])
        #expect(cut.utf8.count <= 255 && cut.utf8.count > 50)
        #expect(script.unicodeScalars.starts(with: cut.unicodeScalars))
    }

    @Test func `A process that is not there has no name`() {
        // Larger than any number that Linux gives.
        #expect(ProgramName.of(.max) == "")
    }
}

/// Who a process is, by this process or by its helper.
@Suite(.startsPrograms) struct ProcessExaminerTests {
    /// An examiner whose helper is a thread of this process, until the examiner has gone.
    private func examinerWithHelper() throws -> ProcessExaminer {
        let (ours, theirs) = try RequestSocket.pair()
        Thread.detachNewThread {
            let helper = ProcessExaminer()
            RequestSocket.serve(on: theirs) {
                helper.answer($0) ?? RequestSocket.Letter(Parcel())
            }
        }
        return ProcessExaminer(asking: RequestSocket(on: ours))
    }

    @Test func `The name of a running script is found, by this process and by its helper`() throws {
        let directory = try TemporaryDirectory()
        let script = directory.path + "/night-mode"
        try Program.make("#!/bin/sh -e\necho ready\nread line\n", at: script)
        let child = try ChildProcess([script, "on"], input: .pipe, output: .lines)
        #expect(child.lines?.next() == "ready")
        let process = UInt32(child.processIdentifier)
        for examiner in [ProcessExaminer(), try examinerWithHelper()] {
            #expect(examiner.programName(of: process) == "night-mode")
            #expect(examiner.program(of: process) == Path.target(ofLink: "/proc/\(process)/exe"))
            #expect(examiner.examine(process, reference: nil)?.place == ProcessPlace.own)
        }
    }

    @Test func `Nothing is known of a process that is not there, or after the helper has ended`()
        throws
    {
        let (ours, theirs) = try RequestSocket.pair()
        shutdown(theirs.number, Int32(SHUT_RDWR))
        let alone = ProcessExaminer(asking: RequestSocket(on: ours))
        for (examiner, process) in [
            (ProcessExaminer(), UInt32.max), (try examinerWithHelper(), UInt32.max),
            (alone, UInt32(getpid())),
        ] {
            #expect(examiner.programName(of: process) == "")
            #expect(examiner.program(of: process) == "")
            #expect(examiner.examine(process, reference: nil) == nil)
        }
    }
}
