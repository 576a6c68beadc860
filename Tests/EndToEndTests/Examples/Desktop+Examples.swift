import Foundation
import TestSupport
import Testing

extension Desktop {
    /// The path of a program of this package that is no product of it.
    static func builtProgram(_ name: String) -> String {
        URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: name)
            .path(percentEncoded: false)
    }

    /// Runs one of the example programs to its end.
    @discardableResult
    func example(_ name: String, _ arguments: String...) -> ProgramResult {
        run([Desktop.builtProgram(name)] + arguments)
    }

    /// What the bus carries while something is done.
    ///
    /// It is listened to by dbus-monitor, which is known to be there, and to have seen the last
    /// message, by signals before and after.
    func traffic(during body: () throws -> Void) throws -> Traffic {
        let file = directory.path + "/monitored"
        let monitor = try ChildProcess(
            ["dbus-monitor", "--session", "--binary"], environment: environment,
            output: .file(file))
        let start = try heard("TrafficBegins", in: file)
        try body()
        let end = try heard("TrafficEnds", in: file)
        monitor.send(SIGTERM)
        let bytes = try Data(contentsOf: URL(filePath: file))[start..<end]
        let traffic = Traffic(path: directory.path + "/traffic", size: bytes.count)
        try bytes.write(to: URL(filePath: traffic.path))
        return traffic
    }

    /// Emits a signal until the monitor has written it.
    ///
    /// - Returns: Its position in the file.
    private func heard(_ signal: String, in file: String) throws -> Int {
        var place: Int?
        try wait {
            try run(
                "gdbus", "emit", "--session", "--object-path", "/", "--signal",
                "org.example.Test.\(signal)"
            ).requireOutput()
            let found = run("grep", "--text", "--byte-offset", "--only-matching", signal, file)
            place = Int(found.output.prefix { $0 != ":" })
            return place != nil
        }
        return try #require(place)
    }
}

/// Messages that a bus has carried, in a file.
struct Traffic {
    let path: String
    /// Of all messages together, in bytes.
    let size: Int

    /// How often a text occurs in the messages.
    func count(of text: String) -> Int {
        ProgramResult.run(["grep", "--text", "--only-matching", text, path]).output
            .split(separator: "\n").count
    }
}
