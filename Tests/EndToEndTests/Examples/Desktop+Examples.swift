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

    /// What the bus carries while something is done, message by message.
    ///
    /// It is listened to by dbus-monitor, which is known to be there, and to have seen the last
    /// message, by signals before and after.
    func traffic(during body: () throws -> Void) throws -> Data {
        let file = directory.path + "/traffic"
        let monitor = try ChildProcess(
            ["dbus-monitor", "--session", "--binary"], environment: environment,
            output: .file(file))
        let start = try heard("TrafficBegins", in: file)
        try body()
        let end = try heard("TrafficEnds", in: file)
        monitor.send(SIGTERM)
        return try Data(contentsOf: URL(filePath: file))[start..<end]
    }

    /// Emits a signal until the monitor has written it.
    ///
    /// - Returns: Where it stands in the file.
    private func heard(_ signal: String, in file: String) throws -> Int {
        var place: Range<Data.Index>?
        try wait {
            try run(
                "gdbus", "emit", "--session", "--object-path", "/", "--signal",
                "org.example.Test.\(signal)"
            ).requireOutput()
            place = try Data(contentsOf: URL(filePath: file)).range(of: Data(signal.utf8))
            return place != nil
        }
        return try #require(place).upperBound
    }
}

extension Data {
    /// How often a text stands in the bytes.
    func count(of text: String) -> Int {
        var count = 0
        var rest = self[...]
        while let place = rest.range(of: Data(text.utf8)) {
            count += 1
            rest = rest[place.upperBound...]
        }
        return count
    }
}
