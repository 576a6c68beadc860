import ArgumentParser
import DBus
import DefaultsClient
import DefaultsTerms
@preconcurrency import Glibc
import KeyedArchive
import RoamingTerms

struct RoamEnable: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable",
        abstract: "Turns roaming on for this machine, and makes the first exchange.",
        discussion: """
            A machine that joins never overwrites: where both sides have a value, that of the others \
            stands, and its own is kept as a conflict. The address of a server is a connection \
            string of PostgreSQL, such as 'host=defaults.example.org dbname=defaults'. It never \
            contains a password: use Kerberos, a certificate or ~/.pgpass.
            """)

    @Option(
        help: ArgumentHelp(
            "Meet in this directory, which something else keeps the same on all machines.",
            valueName: "path"))
    var directory: String?

    @Option(help: ArgumentHelp("Meet on this PostgreSQL server.", valueName: "address"))
    var server: String?

    static var needsBus: Bool { true }

    func check() throws {
        if directory != nil, server != nil { throw ToolError.onePlace }
        if let directory, !directory.hasPrefix("/") {
            throw ToolError.noPlace("--directory", directory)
        }
    }

    func run(with defaults: RemoteDefaults) async throws {
        try await setPlace(with: defaults)
        let layers = RoamTerms.layers.map { $0.spelling(of: RoamTerms.domain) }
        var keys: Set<String> = []
        for layer in layers { keys.formUnion(try await defaults.keys(in: layer)) }
        guard keys.contains(RoamTerms.directory) || keys.contains(RoamTerms.server) else {
            throw ToolError.nowhereToRoam
        }
        if let unit = try await RoamUnit(on: defaults.connection) { try await unit.enable() }
        do {
            try await defaults.connection.startService(RoamContract.busName)
        } catch {
            throw ToolError.noRoamingService
        }
        try await RoamingService(on: defaults.connection).roamNow()
        try await RoamStatusCommand.show(RoamingService(on: defaults.connection).status(), defaults)
    }

    private func setPlace(with defaults: RemoteDefaults) async throws {
        var change = DefaultsTransaction()
        let encoder = KeyedArchiveEncoder()
        if let directory {
            change.set(RoamTerms.directory, to: try encoder.encode(directory))
            change.remove(RoamTerms.server)
        } else if let server {
            change.set(RoamTerms.server, to: try encoder.encode(server))
            change.remove(RoamTerms.directory)
        }
        change.remove(RoamTerms.enabled)
        change.isDurable = true
        try await defaults.apply(change, in: LayerName.host.spelling(of: RoamTerms.domain))
    }
}

struct RoamDisable: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable",
        abstract: "Turns roaming off for this machine.",
        discussion: """
            All values stay here and on the other machines. 'defaultsctl roam forget' on another \
            machine removes this one from the list.
            """)

    static var needsBus: Bool { true }

    func run(with defaults: RemoteDefaults) async throws {
        var change = DefaultsTransaction()
        for key in RoamTerms.settings { change.remove(key) }
        change.isDurable = true
        try await defaults.apply(change, in: LayerName.host.spelling(of: RoamTerms.domain))
        if let unit = try await RoamUnit(on: defaults.connection) { try await unit.disable() }
    }
}

struct RoamPause: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Stops exchanging until 'defaultsctl roam resume'.")

    func run(with defaults: RemoteDefaults) async throws {
        try await defaults.set(
            KeyedArchiveEncoder().encode(false), forKey: RoamTerms.enabled,
            in: LayerName.host.spelling(of: RoamTerms.domain))
    }
}

struct RoamResume: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Goes on after 'defaultsctl roam pause'.")

    func run(with defaults: RemoteDefaults) async throws {
        try await defaults.remove(
            RoamTerms.enabled, in: LayerName.host.spelling(of: RoamTerms.domain))
    }
}

struct RoamNow: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "now",
        abstract: "Exchanges changes now, and waits until that is done.")

    static var needsBus: Bool { true }

    func run(with defaults: RemoteDefaults) async throws {
        try await RoamingService(on: defaults.connection).roamNow()
    }
}
