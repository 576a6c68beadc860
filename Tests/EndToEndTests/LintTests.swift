import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// `defaultsctl lint`, which needs neither a bus nor a service.
@Suite(.startsPrograms) struct LintTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Writes a file into a directory below, with the modes that both are to have.
    private func write(_ text: String, _ name: String) throws {
        let parents = name.split(separator: "/").dropLast()
        for count in parents.indices {
            let path = "\(directory.path)/\(parents[...count].joined(separator: "/"))"
            mkdir(path, 0o755)
            chmod(path, 0o755)
        }
        chmod(try directory.write(text, to: name), 0o644)
    }

    private func lint(_ arguments: String..., input: String = "") -> ProgramResult {
        ProgramResult.run(
            ["env", "--chdir", directory.path, Desktop.programs + "/defaultsctl", "lint"]
                + arguments,
            environment: ["PATH": "/usr/bin:/bin"], input: input)
    }

    @Test(.enabled(if: Desktop.sandboxIsAvailable))
    func `Without arguments the standard places are checked, each as its layer`() throws {
        let places = ["/etc/defaultsd/managed", "/etc/xdg/defaultsd", "/usr/share/defaultsd"]
        let lock = #"{"$locked": ["a"]}"#
        for number in places.indices {
            try write(lock, "\(number)/org.example.A.json")
            try write(number == 0 ? "{" : "{}", "\(number)/org.example.A.d/1.json")
        }
        // The directories are put over empty ones, so that nothing of the machine is touched.
        let program = Desktop.programs + "/defaultsctl"
        let mounts = ["/etc", "/usr/share"].flatMap { ["--tmpfs", $0] }
        let binds = places.enumerated().flatMap { number, place in
            ["--ro-bind", "\(directory.path)/\(number)", place]
        }
        func run(_ words: String...) -> ProgramResult {
            ProgramResult.run(
                ["bwrap", "--ro-bind", "/", "/"] + mounts + binds + ["--bind", "/tmp", "/tmp"]
                    + [program, "lint"] + words)
        }
        let result = run()
        let lines = result.output.split(separator: "\n").map(String.init)
        #expect(result.status == 1 && lines.count == 3, "\(result)")
        #expect(lines[0].hasPrefix("\(places[0])/org.example.A.d/1.json:1:2: error: "))
        #expect(lines[1].hasPrefix("\(places[1])/org.example.A.json:1:2: error: Only files"))
        #expect(lines[2].hasPrefix("\(places[2])/org.example.A.json:1:2: error: Only files"))
        // Where it is says what it is for.
        #expect(run("\(places[1])/org.example.A.json").status == 1)
        #expect(run("\(places[0])/org.example.A.json").status == 0)
    }
}
