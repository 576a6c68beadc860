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

    private func check(with variables: [String: String] = [:]) -> ProgramResult {
        ProgramResult.run(
            ["/bin/sh", Desktop.packageDirectory + ".ci/swift-toolchain", "6.2"],
            environment: variables.merging(["PATH": directory.path]) { $1 })
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

    /// A user with sudo, and a system without git.
    private func forgetGit() throws {
        try write("dpkg-query", "case \"$*\" in *git) exit 1 ;; *) echo installed ;; esac")
        try write("sudo", "echo \"sudo $*\" >&2")
    }

    /// What the script says to a user at a terminal who types a line.
    private func check(answering answer: String) -> ProgramResult {
        let script = Desktop.packageDirectory + ".ci/swift-toolchain"
        return ProgramResult.run(
            ["/usr/bin/script", "--quiet", "--return", "--command", "\(script) 6.2", "/dev/null"],
            environment: ["PATH": directory.path, "SHELL": "/bin/sh"], input: "\(answer)\n")
    }

    @Test func `A user at a terminal is asked before sudo is used`() throws {
        try forgetGit()
        let result = check(answering: "y")
        let question = "Install them, and those that they need, with 'sudo apt-get'? [y/N] "
        let parts = result.output.split(separator: question)
        #expect(result.status == 0 && parts.count == 2, "\(result)")
        #expect(parts.first?.contains("\r\n    git\r\n") == true, "\(result)")
        #expect(parts.first?.contains("sudo") == false, "\(result)")
        #expect(parts.last?.contains(/sudo env .*apt-get .*install .* git/) == true, "\(result)")
    }

    @Test(arguments: ["n", "", "nonsense"])
    func `A user who does not agree gets the command, and nothing is installed`(
        answer: String
    ) throws {
        try forgetGit()
        let result = check(answering: answer)
        #expect(result.status == 1)
        #expect(result.output.hasSuffix("\r\n    sudo apt-get install git\r\n"), "\(result)")
        #expect(!result.output.contains("sudo env"), "\(result)")
    }

    @Test func `Without a terminal nobody is asked, and the command is printed`() throws {
        try forgetGit()
        let result = check()
        #expect(result.status == 1 && result.output == "", "\(result)")
        #expect(result.error.contains("\n    sudo apt-get install git\n"), "\(result)")
    }

    @Test(arguments: [["CI": "true"], ["DEFAULTSD_INSTALL": "yes"]])
    func `Who has agreed in the environment is not asked`(agreement: [String: String]) throws {
        try forgetGit()
        let result = check(with: agreement)
        #expect(result.status == 0 && !result.error.contains("[y/N]"), "\(result)")
        #expect(
            result.error.contains(/sudo --non-interactive env .*apt-get .*install .* git\n/),
            "\(result)")
    }

    @Test func `Root is not asked`() throws {
        try forgetGit()
        try write("id", "echo 0")
        try write("apt-get", "echo \"apt-get $*\" >&2")
        let result = check()
        #expect(result.status == 0 && !result.error.contains("[y/N]"), "\(result)")
        #expect(result.error.contains(/(?m)^apt-get .*install .* git$/), "\(result)")
        #expect(!result.error.contains("sudo"), "\(result)")
    }

    @Test func `A package that was removed and left its settings is missing`() throws {
        try forgetGit()
        try write(
            "dpkg-query", "case \"$*\" in *git) echo config-files ;; *) echo installed ;; esac")
        #expect(check().error.contains("\n    sudo apt-get install git\n"))
    }

    @Test func `A warning about a package that is there does not make it a missing one`() throws {
        try write("dpkg-query", "echo 'dpkg-query: warning: odd' >&2; printf '\\ninstalled'")
        let result = check()
        #expect(result.status == 0 && result.output + result.error == "", "\(result)")
    }

    @Test(arguments: [2, 126, 127])
    func `A failure to find out what is installed is printed, and nothing is installed`(
        status: Int
    ) throws {
        try forgetGit()
        try write("dpkg-query", "echo 'sh: dpkg-query: Text file busy' >&2; exit \(status)")
        let result = check(with: ["CI": "true"])
        #expect(result.status == 1 && result.output == "", "\(result)")
        #expect(
            result.error.hasSuffix("ended with \(status): sh: dpkg-query: Text file busy\n"),
            "\(result)")
    }

    @Test func `A failure to find out what Swift needs is printed`() throws {
        try write("ldd", "echo 'ldd: Text file busy' >&2; exit 126")
        let result = check()
        #expect(result.status == 1 && result.output == "", "\(result)")
        #expect(result.error.hasSuffix("ldd ended with 126: ldd: Text file busy\n"), "\(result)")
    }

    @Test func `A Swift that is a static program or a script needs no packages`() throws {
        try write("ldd", "echo '\tnot a dynamic executable' >&2; exit 1")
        let result = check()
        #expect(result.status == 0 && result.output + result.error == "", "\(result)")
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
