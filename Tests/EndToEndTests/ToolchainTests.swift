import Foundation
import TestSupport
import TestTiers
import Testing

/// What `make` says on a system that cannot build yet, by `.ci/swift-toolchain`.
@Suite(.startsPrograms) struct ToolchainTests {
    private let directory: TemporaryDirectory

    /// A system in which nothing is found but what a script needs.
    init() throws {
        directory = try TemporaryDirectory()
        for tool in ["dirname", "env", "head", "readlink", "sed", "sort"] {
            try Program.link("\(directory.path)/\(tool)", to: "/usr/bin/\(tool)")
        }
        try write("apt-get", "exit 0")
        try write("dpkg-query", "echo installed")
        try write("id", "echo 1000")
        try write("ldd", "")
        try write("swift", "echo 'Swift version 6.3.1 (swift-6.3.1-RELEASE)'")
    }

    private func write(_ name: String, _ script: String) throws {
        try Program.make("#!/bin/sh\n\(script)\n", at: "\(directory.path)/\(name)")
    }

    private func check() -> ProgramResult {
        ProgramResult.run(
            ["/bin/sh", Desktop.packageDirectory + ".ci/swift-toolchain", "6.2"],
            environment: ["PATH": directory.path])
    }

    @Test func `A complete system gets no message`() {
        let result = check()
        #expect(result.status == 0 && result.output + result.error == "", "\(result)")
    }

    @Test func `Without Swift it says what to install`() throws {
        try FileManager.default.removeItem(atPath: directory.path + "/swift")
        let result = check()
        #expect(result.status == 1)
        #expect(result.error.contains("PATH has no program 'swift'"), "\(result)")
        #expect(result.error.contains("https://www.swift.org/install/linux/"))
    }

    @Test func `A Swift that is too old is named with its version`() throws {
        try write("swift", "echo 'Swift version 5.10.1 (swift-5.10.1-RELEASE)'")
        let result = check()
        #expect(result.status == 1)
        #expect(result.error.contains("is Swift 5.10.1; this project needs 6.2 or later"))
    }

    @Test func `A Swift that does not run is quoted`() throws {
        try write("swift", "echo 'swift: cannot execute binary file' >&2; exit 126")
        let result = check()
        #expect(result.status == 1)
        #expect(result.error.contains("does not run: swift: cannot execute binary file"))
    }

    @Test func `A user who may not install packages gets the command line that does`() throws {
        try write("dpkg-query", "case \"$*\" in *git|*libxml2) ;; *) echo installed ;; esac")
        try write("ldd", "echo ' libxml2.so.2 => not found'; echo ' libm.so.6 => /lib/libm.so.6'")
        let result = check()
        #expect(result.status == 1)
        #expect(result.error.hasSuffix("\n    apt-get install git libxml2\n"), "\(result)")
    }

    @Test func `A system that is not Debian gets a list of what is missing`() throws {
        try write("dpkg-query", "case \"$*\" in *git) ;; *) echo installed ;; esac")
        try FileManager.default.removeItem(atPath: directory.path + "/apt-get")
        let result = check()
        #expect(result.status == 1)
        #expect(result.error.contains("This system has no apt-get."), "\(result)")
        #expect(result.error.hasSuffix(": git\n"), "\(result)")
    }
}
