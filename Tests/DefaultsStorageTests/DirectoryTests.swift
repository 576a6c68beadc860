import DefaultsModel
import Foundation
import TestTiers
import Testing

@testable import DefaultsStorage

@Suite(.startsPrograms) struct DirectoryTests {
    private func mode(_ path: String) throws -> Int {
        try #require(
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    private func setMode(_ mode: Int, _ path: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    /// Every file and directory at and below a path, with its permissions.
    private func modes(below path: String) throws -> [String: Int] {
        let names = FileManager.default.enumerator(atPath: path)?.allObjects as? [String] ?? []
        return try Dictionary(
            uniqueKeysWithValues: names.map { ($0, try mode("\(path)/\($0)")) })
    }

    @Test("Files are 0600 in directories of 0700, whatever the umask")
    func modes() throws {
        // This process sets its own umask: 0.
        let run = try CrashWriter(in: Scratch())
        _ = try run.kill(after: 200)
        for (path, directories) in [
            (run.scratch.root + "/config", ["defaultsd"]),
            (run.scratch.root + "/run", ["defaultsd"]),
        ] {
            for (name, mode) in try modes(below: path) {
                let isFile =
                    name.hasSuffix(".journal") || name.hasSuffix("lock")
                    || name.hasSuffix("journal-place") || name.hasSuffix("counters")
                    || name.contains("defaults.db")
                #expect(mode == (isFile ? 0o600 : 0o700), "\(path)/\(name)")
            }
            #expect(try modes(below: path).keys.contains(directories[0]))
        }
    }

    @Test("The standard directory, and ours in the runtime directory, are closed to others")
    func tightens() throws {
        let scratch = try Scratch()
        let variables = [
            "XDG_CONFIG_HOME": "\(scratch.root)/config", "XDG_RUNTIME_DIR": "\(scratch.root)/run",
        ]
        let location = try DatabaseLocation.fromEnvironment { variables[$0] }
        try Database(at: location) { _ in }.close()
        try setMode(0o755, location.directory)
        try setMode(0o777, "\(scratch.root)/run/defaultsd")
        try Database(at: location) { _ in }.close()
        #expect(try mode(location.directory) == 0o700)
        #expect(try mode("\(scratch.root)/run/defaultsd") == 0o700)
    }

    @Test(
        "A directory named by the user that others can enter is refused and left as it is",
        arguments: [0o755, 0o710, 0o704, 0o2770, 0o1777])
    func named(mode: Int) throws {
        let scratch = try Scratch()
        let directory = scratch.location.directory
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        try setMode(mode, directory)
        let error = #expect(throws: StorageError.self) { _ = try scratch.open() }
        #expect(error?.code == .directoryUnusable)
        #expect(error?.description.contains("(its mode is \(String(mode, radix: 8)))") == true)
        #expect(error?.description.contains("chmod 700") == true)
        #expect(try self.mode(directory) == mode)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == [])
    }

    @Test(
        "A directory named by the user that nobody else can enter is used as it is",
        arguments: [0o700, 0o2700])
    func namedAndPrivate(mode: Int) throws {
        let scratch = try Scratch()
        try scratch.open().close()
        try setMode(mode, scratch.location.directory)
        try scratch.open().close()
        #expect(try self.mode(scratch.location.directory) == mode)
    }

    @Test(
        "This machine is known by its machine ID",
        .enabled(if: FileManager.default.fileExists(atPath: "/etc/machine-id")))
    func machineID() throws {
        let text = try String(contentsOfFile: "/etc/machine-id", encoding: .utf8)
        #expect(Machine.current.id.name + "\n" == text)
    }

    @Test("A directory that is shared on purpose is not used although it has our name")
    func sticky() throws {
        let scratch = try Scratch()
        try scratch.open().close()
        try setMode(0o1777, "\(scratch.root)/run/defaultsd")
        try scratch.open().close()
        #expect(try mode("\(scratch.root)/run/defaultsd") == 0o1777)
        let journal = "\(scratch.location.directory)/journal"
        #expect(try !FileManager.default.contentsOfDirectory(atPath: journal).isEmpty)
    }

    @Test("A directory that cannot be made is named, with the reason")
    func cannotBeMade() throws {
        let scratch = try Scratch()
        try Data().write(to: URL(fileURLWithPath: "\(scratch.root)/config"))
        let error = #expect(throws: StorageError.self) { _ = try scratch.open() }
        #expect(error?.code == .directoryUnusable)
        #expect(error?.description.contains("\(scratch.root)/config") == true)
        #expect(error?.description.contains("Not a directory") == true)
    }

    @Test("All paths of one directory have the same journal")
    func symbolicLink() throws {
        let scratch = try Scratch()
        try scratch.process { try $0.set(["key": [1]]) }
        try FileManager.default.createSymbolicLink(
            atPath: "\(scratch.root)/link", withDestinationPath: scratch.location.directory)
        let linked = DatabaseLocation(
            directory: "\(scratch.root)/link", runtimeDirectory: scratch.location.runtimeDirectory)
        let database = try Database(at: linked, boot: Scratch.boot) { _ in }
        #expect(try database.archive("key") == [1])
    }

    @Test(
        "The environment gives the place",
        arguments: [
            (["HOME": "/h"], "/h/.config/defaultsd", nil),
            (["HOME": "/h", "XDG_CONFIG_HOME": "/c"], "/c/defaultsd", nil),
            (["HOME": "/h", "XDG_CONFIG_HOME": "relative"], "/h/.config/defaultsd", nil),
            (["HOME": "/h", "XDG_CONFIG_HOME": ""], "/h/.config/defaultsd", nil),
            (["HOME": "/h", "XDG_RUNTIME_DIR": "/r"], "/h/.config/defaultsd", "/r"),
            (["HOME": "/h", "XDG_RUNTIME_DIR": "r"], "/h/.config/defaultsd", nil),
        ] as [([String: String], String, String?)])
    func environment(variables: [String: String], directory: String, runtime: String?) throws {
        let location = try DatabaseLocation.fromEnvironment { variables[$0] }
        #expect(
            location
                == DatabaseLocation(
                    directory: directory, runtimeDirectory: runtime, isStandard: true))
        let named = try DatabaseLocation.fromEnvironment(directory: "/x") { variables[$0] }
        #expect(named == DatabaseLocation(directory: "/x", runtimeDirectory: runtime))
    }

    @Test("A relative path from the user begins at the working directory")
    func relative() throws {
        let working = FileManager.default.currentDirectoryPath
        let location = try DatabaseLocation.fromEnvironment(directory: "here/../there") { _ in nil }
        #expect(location.directory == "\(working)/here/../there")
    }

    @Test("An environment without a place is refused, unless the user has named one")
    func noEnvironment() throws {
        let error = #expect(throws: StorageError.self) {
            try DatabaseLocation.fromEnvironment { _ in nil }
        }
        #expect(error?.code == .directoryUnusable)
        #expect(error?.description.contains("XDG_CONFIG_HOME") == true)
        #expect(
            try DatabaseLocation.fromEnvironment(directory: "/x") { _ in nil }.directory == "/x")
    }
}
