import DconfFiles
import Foundation
import Glibc
import TestSupport

/// The program `dconf`, which reads databases and makes them from text.
struct DconfTool {
    static let isInstalled = access("/usr/bin/dconf", X_OK) == 0
    static let missing = "dconf is not installed; install the package dconf-cli"

    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// The database that dconf makes of a text and of paths to lock.
    func compile(_ text: String, locks: [String] = []) throws -> [UInt8] {
        let source = directory.path + "/source.d"
        try FileManager.default.createDirectory(
            atPath: source + "/locks", withIntermediateDirectories: true)
        try directory.write(text, to: "source.d/values")
        try directory.write(
            locks.map { $0 + "\n" }.joined(), to: "source.d/locks/paths")
        let output = directory.path + "/compiled"
        try run(["compile", output, source])
        return Array(try Data(contentsOf: URL(filePath: output)))
    }

    /// What dconf says about a file that is the database of the user.
    func user(_ database: [UInt8], _ arguments: String...) throws -> String {
        let folder = directory.path + "/config/dconf"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        try Data(database).write(to: URL(filePath: folder + "/user"))
        return try run(arguments)
    }

    /// What dconf says about a file that is the database of an administrator.
    func system(_ database: [UInt8], _ arguments: String...) throws -> String {
        try Data(database).write(to: URL(filePath: directory.path + "/system"))
        let profile = try directory.write(
            "user-db:user\nfile-db:\(directory.path)/system\n", to: "profile")
        return try run(arguments, ["DCONF_PROFILE": profile])
    }

    @discardableResult
    private func run(_ arguments: [String], _ more: [String: String] = [:]) throws -> String {
        var environment = more
        environment["XDG_CONFIG_HOME"] = directory.path + "/config"
        environment["XDG_RUNTIME_DIR"] = directory.path
        environment["HOME"] = directory.path
        environment["LC_ALL"] = "C.UTF-8"
        // Reading needs no bus.
        environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/nonexistent"
        return try ProgramResult.run(["/usr/bin/dconf"] + arguments, environment: environment)
            .requireOutput()
    }
}
