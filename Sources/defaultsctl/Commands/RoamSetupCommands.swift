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
            Run it on each machine, with the same place. A machine that joins never overwrites: if \
            both sides have a value, the other machines' value wins, and the joining machine's value \
            is kept as a conflict. Without a place, it starts the service again with what is set up \
            already.

            The directory must exist. The address of a server is a connection string of PostgreSQL, \
            such as 'host=defaults.example.org dbname=defaults'. It must not contain a password: use \
            Kerberos, a certificate or ~/.pgpass.

            With --encrypt, names and values are encrypted before they leave this machine. Give it \
            on each machine: with a place and without --encrypt, encryption is turned off here. The \
            first machine makes a key. The others get it from the place with the passphrase, which \
            is the same on all machines. Each keeps the key in the user's keyring. If all machines \
            are lost and the passphrase is forgotten, nobody can read what is at the place.
            """)

    @Option(
        help: ArgumentHelp(
            "Meet in this directory, which another program keeps the same on all machines.",
            valueName: "path"))
    var directory: String?

    @Option(help: ArgumentHelp("Meet on this PostgreSQL server.", valueName: "address"))
    var server: String?

    @Flag(help: "Encrypt names and values before they leave this machine.")
    var encrypt = false

    @OptionGroup var passphrase: PassphraseOption

    static var needsBus: Bool { true }

    func check() throws {
        if passphrase.passphraseFile != nil, !encrypt {
            throw ToolError.passphraseWithoutEncryption
        }
        if directory != nil, server != nil { throw ToolError.onePlace }
        if let directory, !directory.hasPrefix("/") {
            throw ToolError.noPlace("--directory", directory)
        }
        // Before anything is stored: every program of the user can read the setting.
        if let server, let fault = ServerAddressFault(of: server) {
            throw ToolError.noServer(fault)
        }
    }

    func run(with defaults: RemoteDefaults) async throws {
        // Asked for first: nothing is changed yet if the user gives up.
        let words = encrypt ? try passphrase.read("Passphrase: ") : nil
        let former = try await defaults.entries(in: Self.settings).entries
        try await setPlace(with: defaults)
        let service = RoamingService(on: defaults.connection)
        do {
            try await start(with: defaults)
            if let words {
                try await find(words, at: service)
            } else {
                try await service.roamNow()
            }
        } catch {
            // A place that cannot be used does not replace another one.
            try? await restore(former.map { ($0.key, $0.archive) }, with: defaults)
            throw error
        }
        try await RoamStatusCommand.show(service.status(), defaults)
    }

    /// This machine's settings.
    private static let settings = LayerName.host.spelling(of: RoamTerms.domain)

    private func restore(
        _ former: [(key: String, archive: KeyedArchive)], with defaults: RemoteDefaults
    ) async throws {
        var change = DefaultsTransaction()
        for key in RoamTerms.settings {
            if let archive = former.first(where: { $0.key == key })?.archive {
                change.set(key, to: archive)
            } else {
                change.remove(key)
            }
        }
        change.isDurable = true
        try await defaults.apply(change, in: Self.settings)
    }

    /// Finds the key of the place, or makes it.
    private func find(_ words: String, at service: RoamingService) async throws {
        if try await service.encrypt(words, mayMakeKey: !passphrase.isTyped) { return }
        _ = try await service.encrypt(passphrase.readNew(after: words), mayMakeKey: true)
    }

    /// Starts the service, if a place is set up.
    private func start(with defaults: RemoteDefaults) async throws {
        let layers = RoamTerms.layers.map { $0.spelling(of: RoamTerms.domain) }
        var keys: Set<String> = []
        for layer in layers { keys.formUnion(try await defaults.keys(in: layer)) }
        guard keys.contains(RoamTerms.directory) || keys.contains(RoamTerms.server) else {
            throw ToolError.nowhereToRoam
        }
        if let unit = try await RoamUnit(on: defaults.connection) { try await unit.enable() }
        // A service that was started in another way may have no file with which the bus starts it.
        guard try await !defaults.connection.hasOwner(of: RoamContract.busName) else { return }
        do {
            try await defaults.connection.startService(RoamContract.busName)
        } catch let error as DBusError {
            throw ToolError.roamingDoesNotStart(error)
        }
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
        if encrypt {
            change.set(RoamTerms.encrypted, to: try encoder.encode(true))
        } else if directory != nil || server != nil {
            change.remove(RoamTerms.encrypted)
        }
        change.remove(RoamTerms.enabled)
        change.isDurable = true
        try await defaults.apply(change, in: Self.settings)
    }
}

struct RoamDisable: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable",
        abstract: "Turns roaming off for this machine.",
        discussion: """
            It also removes the place from this machine's settings. All values stay here and on the \
            other machines. 'defaultsctl roam forget' on another machine removes this one from the \
            list.
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

struct RoamPassphrase: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "passphrase",
        abstract: "Changes the passphrase that new machines need.",
        discussion: """
            Machines that roam already do not need it: each has the key in its keyring, and the key \
            stays the same. Somebody who has an old copy of the place can still use the old \
            passphrase with it.
            """)

    @OptionGroup var passphrase: PassphraseOption

    static var needsBus: Bool { true }

    func run(with defaults: RemoteDefaults) async throws {
        let service = RoamingService(on: defaults.connection)
        // Nobody types a passphrase for a service that is not there.
        _ = try await service.status()
        try await service.changePassphrase(to: passphrase.readNew())
    }
}

struct RoamPause: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Stops the exchange until 'defaultsctl roam resume'.")

    func run(with defaults: RemoteDefaults) async throws {
        try await defaults.set(
            KeyedArchiveEncoder().encode(false), forKey: RoamTerms.enabled,
            in: LayerName.host.spelling(of: RoamTerms.domain))
    }
}

struct RoamResume: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Continues after 'defaultsctl roam pause'.")

    func run(with defaults: RemoteDefaults) async throws {
        try await defaults.remove(
            RoamTerms.enabled, in: LayerName.host.spelling(of: RoamTerms.domain))
    }
}

struct RoamNow: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "now",
        abstract: "Exchanges changes now, and waits until it is done.")

    static var needsBus: Bool { true }

    func run(with defaults: RemoteDefaults) async throws {
        try await RoamingService(on: defaults.connection).roamNow()
    }
}
