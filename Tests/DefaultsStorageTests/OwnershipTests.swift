import Foundation
import SystemCalls
import Testing

@testable import DefaultsStorage

/// The home or the runtime directory of another user, as `sudo -E` and `su` leave it.
@Suite struct OwnershipTests {
    private static let root: uid_t = 0
    private static let user: uid_t = 1000
    private static let other: uid_t = 1001

    @Test(
        "Nothing is made in a directory of another user, except in one that is shared",
        arguments: [
            (user, 0o700, user, true), (user, 0o777, root, false), (user, 0o700, root, false),
            (other, 0o777, user, false), (other, 0o770, user, false), (root, 0o755, user, true),
            (root, 0o1777, user, true), (other, 0o1777, user, true), (other, 0o1770, user, false),
            (root, 0o700, root, true),
        ] as [(uid_t, mode_t, uid_t, Bool)])
    func rule(owner: uid_t, mode: mode_t, process: uid_t, mayUse: Bool) {
        #expect(Ownership.mayUse(ownedBy: owner, mode, as: process) == mayUse)
    }

    private static let isRoot = geteuid() == 0

    /// A directory of another user.
    private func makeDirectory(in scratch: Scratch, _ name: String) throws -> String {
        let path = "\(scratch.root)/\(name)"
        try #require(mkdir(path, 0o755) == 0 && chown(path, 65534, 65534) == 0)
        return path
    }

    private func names(in directory: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory)
    }

    @Test(
        "A home of another user is refused before anything is made, and the variable is named",
        .enabled(if: isRoot, "only root may give files to others"),
        arguments: ["HOME", "XDG_CONFIG_HOME"], [true, false])
    func home(variable: String, exists: Bool) throws {
        let scratch = try Scratch()
        let home = try makeDirectory(in: scratch, "home")
        let named = exists ? home : "\(home)/below/it"
        let error = #expect(throws: StorageError.self) {
            try DatabaseLocation.fromEnvironment { $0 == variable ? named : nil }
        }
        #expect(error?.code == .directoryUnusable)
        let text = error?.description ?? ""
        #expect(text.hasPrefix("\(variable) is \(named), but "), "\(text)")
        #expect(text.contains("65534") && text.contains("Nothing was made there"), "\(text)")
        #expect(try names(in: home).isEmpty)
    }

    @Test(
        "What an earlier 'sudo -E' has left in it does not count",
        .enabled(if: isRoot, "only root may give files to others"))
    func leftBehind() throws {
        let scratch = try Scratch()
        let home = try makeDirectory(in: scratch, "home")
        try FileManager.default.createDirectory(
            atPath: "\(home)/.config/defaultsd", withIntermediateDirectories: true)
        #expect(throws: StorageError.self) {
            try DatabaseLocation.fromEnvironment { $0 == "HOME" ? home : nil }
        }
        #expect(try names(in: "\(home)/.config/defaultsd").isEmpty)
    }

    @Test(
        "A named directory is not made in a directory of another user",
        .enabled(if: isRoot, "only root may give files to others"))
    func named() throws {
        let scratch = try Scratch()
        let home = try makeDirectory(in: scratch, "home")
        let location = DatabaseLocation(directory: "\(home)/a/b", runtimeDirectory: nil)
        for attempt in [
            { _ = try Database(at: location) { _ in } }, { try location.checkUsability() },
        ] {
            let error = #expect(throws: StorageError.self) { try attempt() }
            #expect(error?.description.contains("\(home) belongs to another user") == true)
        }
        #expect(try names(in: home).isEmpty)
    }

    @Test(
        "In a runtime directory of another user nothing is made: the journal is beside the database",
        .enabled(if: isRoot, "only root may give files to others"))
    func runtime() throws {
        let scratch = try Scratch()
        let runtime = try makeDirectory(in: scratch, "other")
        let location = DatabaseLocation(
            directory: scratch.location.directory, runtimeDirectory: runtime)
        var notices: [Notice] = []
        let database = try Database(at: location, boot: Scratch.boot) { notices.append($0) }
        try database.set(["key": [1]])
        #expect(try names(in: runtime).isEmpty)
        #expect(database.journal.directory.path.hasPrefix(location.directory))
        #expect(notices.contains { $0.description.hasPrefix("XDG_RUNTIME_DIR is \(runtime)") })
        #expect(throws: StorageError.self) { try location.runtimeFolderPath() }
        database.place.giveUp()
        database.journal.close()
        // It is given away under a process, too.
        #expect(chown(runtime, 0, 0) == 0)
        let next = try Database(at: location, boot: Scratch.boot) { _ in }
        try next.set(["other": [1]])
        #expect(next.journal.directory.path.hasPrefix(runtime))
        #expect(chown(runtime, 65534, 65534) == 0)
        try FileManager.default.removeItem(atPath: "\(runtime)/defaultsd")
        try next.set(["third": [1]])
        #expect(try names(in: runtime).isEmpty)
        #expect(try next.keys() == ["key", "other", "third"])
    }
}
