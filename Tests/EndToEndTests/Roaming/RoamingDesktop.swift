import Foundation
import Glibc
import TestSupport
import Testing

/// A machine of a user that roams: the shipped programs on a private bus, and a folder that all machines share.
struct RoamingDesktop {
    let desktop: Desktop
    let folder: String

    /// - Parameter folder: The directory in which the machines meet.
    init(meetingIn folder: String) throws {
        desktop = try Desktop()
        self.folder = folder
        try """
        [D-BUS Service]
        Name=org.defaultsd.Roam1
        Exec=\(Desktop.programs)/defaultsd-roam
        """.write(
            toFile: desktop.directory.path + "/services/org.defaultsd.Roam1.service",
            atomically: true, encoding: .utf8)
        _ = try desktop.askBus("ReloadConfig")
    }

    /// Two machines of a user that meet in one directory.
    static func pair() throws -> (shared: TemporaryDirectory, laptop: Self, tower: Self) {
        let shared = try TemporaryDirectory()
        return (
            shared, try RoamingDesktop(meetingIn: shared.path),
            try RoamingDesktop(meetingIn: shared.path)
        )
    }

    /// Runs `defaultsctl roam`, and expects that it is done.
    @discardableResult
    func roam(_ words: String...) throws -> String {
        try desktop.tool(["roam"] + words).requireOutput()
    }

    /// Runs `defaultsctl roam`, and gives what it says where it fails.
    func refusal(_ words: String...) -> String {
        let result = desktop.tool(["roam"] + words)
        #expect(result.status != 0, "\(words)")
        return result.error
    }

    func enable() throws { try roam("enable", "--directory", folder) }

    func write(_ domain: String, _ key: String, _ value: String) throws {
        try desktop.tool("write", domain, key, "-string", value).requireOutput()
    }

    /// The value of the user's layer; nil if there is none.
    func read(_ domain: String, _ key: String) -> String? {
        let result = desktop.tool("read", domain, key)
        return result.status == 0 ? result.output.trimmingCharacters(in: .newlines) : nil
    }

    /// Waits until a key has a value.
    func waitUntil(_ domain: String, _ key: String, is value: String?) throws {
        try wait { read(domain, key) == value }
    }
}
