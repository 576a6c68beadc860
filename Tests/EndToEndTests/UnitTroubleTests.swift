import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// A part of the suite that has a service manager of its own: two of them do not start beside each other.
extension UserManagerTests {
    /// A unit of systemd that cannot start.
    @Suite(.startsPrograms, .serialized)
    struct UnitTroubleTests {
        let manager: UserManager

        init() throws { manager = try UserManager() }

        @Test
        func `A unit that cannot start fails a call at once, with the message of the unit`() throws
        {
            #expect(manager.tool("write", "a.b", "Key", "-int", "1").status == 0)
            #expect(manager.unit("stop", "--quiet") == "")
            try manager.setSchemaVersion(99)
            for words in [["read", "a.b", "Key"], ["domains"]] {
                let failed = manager.tool(words)
                #expect(failed.status == 69, "\(failed)")
                #expect(failed.error.split(separator: "\n").count == 1)
                #expect(failed.error.contains("The unit defaultsd.service does not start: "))
                #expect(failed.error.contains("has version 99 of the schema"))
                #expect(failed.error.contains("systemctl --user restart defaultsd.service"))
                #expect(!failed.error.contains("--replace"))
            }
            let doctor = manager.tool("doctor")
            #expect(doctor.status == 1 && doctor.output.contains("has version 99 of the schema"))
            #expect(!doctor.output.contains("--replace"), "\(doctor.output)")
            let client = manager.client("leave", "a.b", "Key", "2")
            #expect(client.error.contains("has version 99 of the schema"), "\(client)")
        }

        @Test func `After the repair the next call is answered, whoever waits at the bus`()
            throws
        {
            #expect(manager.tool("write", "a.b", "Key", "-int", "1").status == 0)
            #expect(manager.unit("stop", "--quiet") == "")
            let version = try manager.setSchemaVersion(99)
            // dbus-daemon waits two minutes for the unit that this call starts.
            let waiting = try manager.startCall()
            try wait { manager.unit("is-active") == "failed" }
            try manager.setSchemaVersion(version)
            let read = manager.tool("read", "a.b", "Key")
            #expect(read.status == 0 && read.output == "1\n", "\(read)")
            try waiting.requireSuccess()
        }

        @Test
        func
            `An app that runs on reaches a unit that was repaired, and one that was stopped again`()
            throws
        {
            let desktop = try Desktop()
            let talking = try ClientProcess(
                ["talk", "a.b"], in: desktop, environment: manager.environment)
            try talking.ask("set Key 1")
            try talking.ask("flush")
            #expect(manager.unit("stop", "--quiet") == "")
            let version = try manager.setSchemaVersion(99)
            try talking.ask("set Key 2")
            try talking.wait(for: "unreachable", to: "state")
            try manager.setSchemaVersion(version)
            try talking.ask("flush")
            #expect(try talking.ask("state") == "current")
            for number in 3...4 {
                #expect(manager.unit("stop", "--quiet") == "")
                try talking.ask("set Key \(number)")
                try talking.ask("flush")
            }
            #expect(manager.tool("read", "a.b", "Key").output == "4\n")
            #expect(try talking.end() == 0)
        }

        @Test func `A masked unit is reported as masked`() throws {
            _ = manager.unit("mask")
            defer { _ = manager.unit("unmask") }
            let failed = manager.tool("domains")
            #expect(failed.status == 69)
            #expect(failed.error.contains("The unit defaultsd.service is masked"), "\(failed)")
            #expect(failed.error.contains("systemctl --user unmask defaultsd.service"))
            let game = manager.example("GameOptions")
            #expect(game.status == 1)
            #expect(game.error.contains("unmask defaultsd.service. Nothing was read"), "\(game)")
            let doctor = manager.tool("doctor")
            #expect(
                doctor.output.contains("masks the unit") && !doctor.output.contains("ExecStart"))
        }

        @Test func `A unit whose program is missing is reported as such`() throws {
            try manager.removeDaemon()
            let failed = manager.tool("domains")
            #expect(failed.status == 69)
            #expect(failed.error.contains("its program is missing or cannot be run"), "\(failed)")
        }
    }
}
