import DBus
import DefaultsClient
import DefaultsProtocol
import KeyedArchive
import TestSupport
import TestTiers
import Testing

/// The client's calls against the shipped daemon.
@Suite(.startsPrograms, .serialized) struct RemoteDefaultsTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    private func withDefaults(_ body: (RemoteDefaults) async throws -> Void) async throws {
        let defaults = try await RemoteDefaults.connect(to: .address(desktop.bus.address))
        do {
            try await body(defaults)
        } catch {
            await defaults.close()
            throw error
        }
        await defaults.close()
    }

    @Test func `A value that is set can be read, listed, and removed`() async throws {
        try await withDefaults { defaults in
            let archive = try KeyedArchive(json: #"{"$class":"Account","username":"ada"}"#)
            #expect(try await defaults.set(archive, forKey: "User", in: "org.example.App") == 2)
            let stored = try await defaults.archive(forKey: "User", in: "org.example.App")
            #expect(stored.archive.bytes == archive.bytes)
            #expect(stored.generation == 2)
            #expect(try await defaults.domains() == ["org.example.App"])
            #expect(try await defaults.keys(in: "org.example.App") == ["User"])
            #expect(try await defaults.remove("User", in: "org.example.App") == 3)
            #expect(try await defaults.remove("User", in: "org.example.App") == 3)
            #expect(try await defaults.keys(in: "org.example.App") == [])
            let error = try await #require(throws: DefaultsError.self) {
                _ = try await defaults.archive(forKey: "User", in: "org.example.App")
            }
            #expect(error.code == .notFound)
            let refusal = try #require(error.ofContract as? ContractError)
            #expect(refusal.code == .notFound && refusal.message == error.message)
        }
    }

    @Test func `A transaction is made without the locked keys that the error names`() async throws {
        try desktop.write(
            #"{"$locked": ["Proxy.*", "Theme"]}"#, to: "org.example.App.json", in: .managed)
        try await withDefaults { defaults in
            var values: [String: KeyedArchive] = [:]
            for key in ["Free", "Proxy.Host", "Theme"] {
                values[key] = try KeyedArchive(json: "1")
            }
            func apply() async throws -> UInt64 {
                var transaction = DefaultsTransaction()
                transaction.listsLockedKeys = true
                for (key, archive) in values { transaction.set(key, to: archive) }
                return try await defaults.apply(transaction, in: "org.example.App")
            }
            let error = try await #require(throws: DefaultsError.self) { _ = try await apply() }
            #expect(error.code == .locked)
            let locked = try #require(error.lockedKeys["org.example.App"])
            #expect(locked.sorted() == ["Proxy.Host", "Theme"] && error.lockedKeys.count == 1)
            for key in locked { values[key] = nil }
            _ = try await apply()
            #expect(try await defaults.keys(in: "org.example.App") == ["Free"])
        }
    }

    @Test func `A transaction is refused if a key of it has changed after a generation`()
        async throws
    {
        try await withDefaults { defaults in
            let one = try KeyedArchive(json: "1")
            let before = try await defaults.set(one, forKey: "a", in: "org.example.App")
            try await defaults.set(one, forKey: "b", in: "org.example.App")
            #expect(try await defaults.status().recordStart == 1)
            let times = try #require(
                try await defaults.changeTimes(of: ["a", "b"], in: "org.example.App"))
            #expect(times.map(\.generation) == [before, before + 1])
            #expect(times.allSatisfy { $0.time != nil })
            for (key, isRefused) in [("b", true), ("a", false)] {
                var transaction = DefaultsTransaction()
                transaction.remove(key)
                transaction.unchangedSince = before
                do {
                    try await defaults.apply(transaction, in: "org.example.App")
                    #expect(!isRefused)
                } catch let error as DefaultsError where error.code == .conflict {
                    #expect(isRefused)
                }
                await #expect(throws: DefaultsError.self) {
                    try await defaults.applyAll(
                        [("org.example.App", transaction)], unchangedSince: before)
                }
            }
        }
    }

    @Test func `A watcher gets each change in its domain and in no other`() async throws {
        try await withDefaults { defaults in
            let changes = try await defaults.changes(in: "org.example.App")
            let one = try KeyedArchive(json: "1")
            try await defaults.set(one, forKey: "Key", in: "org.example.Other")
            try await defaults.set(one, forKey: "Key", in: "org.example.App@host")
            try await defaults.remove("Key", in: "org.example.App@host")
            var told: [DefaultsChange] = []
            for try await notice in changes {
                guard case .change(let change) = notice else { continue }
                told.append(change)
                if told.count == 2 { break }
            }
            #expect(told.map(\.generation) == [3, 4])
            #expect(told.map(\.changed) == [["Key"], []])
            #expect(told.map(\.removed) == [[], ["Key"]])
            #expect(
                told.map(\.domainWithLayer) == Array(repeating: "org.example.App@host", count: 2))
        }
    }

    @Test func `Synchronize makes pending changes durable, as status shows`() async throws {
        try await withDefaults { defaults in
            try await defaults.set(
                try KeyedArchive(json: "1"), forKey: "Key", in: "org.example.App")
            #expect(try await defaults.synchronize() == 2)
            let status = try await defaults.status()
            #expect(status.generation == 2 && status.durableGeneration == 2)
            #expect(status.pendingChanges == 0 && status.storageError == "")
            #expect(status.databasePath == desktop.databasePath)
        }
    }

    @Test func `Without a bus there is an error that an app can name`() async throws {
        let error = try await #require(throws: DefaultsError.self) {
            _ = try await RemoteDefaults.connect(to: .address("unix:path=/nowhere"))
        }
        #expect(error.code == .unreachable)
    }

    @Test func `Without a service the bus's error reaches the caller`() async throws {
        let bus = try PrivateBus()
        let defaults = try await RemoteDefaults.connect(to: .address(bus.address))
        let error = try await #require(throws: DefaultsError.self) {
            _ = try await defaults.domains()
        }
        #expect((error.ofContract as? DBusError)?.name == .serviceUnknown)
        #expect(error.code == .unreachable)
        await defaults.close()
    }
}
