import DBus
import DefaultsClient
import DefaultsProtocol
import KeyedArchive
import TestSupport
import TestTiers
import Testing

/// The client's calls for layers and locks against the shipped daemon.
@Suite(.startsPrograms, .serialized) struct LayersClientTests {
    let desktop: Desktop
    private static let app = "org.example.App"

    init() throws { desktop = try Desktop() }

    private func withDefaults(_ body: (RemoteDefaults) async throws -> Void) async throws {
        try desktop.write(
            #"{"Theme": "dark", "$locked": ["Pre*"]}"#, to: "\(Self.app).json", in: .managed)
        try desktop.write(#"{"Theme": "auto"}"#, to: "NSGlobalDomain.json", in: .vendor)
        try desktop.awaitKeys(in: "\(Self.app)@managed", "Theme")
        try desktop.awaitKeys(in: "NSGlobalDomain@system", "Theme")
        let defaults = try await RemoteDefaults.connect(to: .address(desktop.bus.address))
        do {
            try await body(defaults)
        } catch {
            await defaults.close()
            throw error
        }
        await defaults.close()
    }

    @Test
    func `The effective value is read with its layer, and every layer is explained`() async throws {
        try await withDefaults { defaults in
            let own = try KeyedArchive(json: "7")
            try await defaults.set(own, forKey: "Prefixed", in: "org.example.Other")
            let managed = try await defaults.lookUp("Theme", in: Self.app)
            #expect(managed.layer == .managed)
            #expect(String(decoding: try managed.archive.json(), as: UTF8.self) == "\"dark\"")
            #expect(try await defaults.lookUp("Theme", in: "a.b").layer == .globalSystem)
            #expect(try await defaults.lookUp("Theme", in: "NSGlobalDomain").layer == .system)
            #expect(try await defaults.lookUp("Prefixed", in: "org.example.Other").layer == .domain)
            let error = try await #require(throws: DefaultsError.self) {
                _ = try await defaults.lookUp("Other", in: Self.app)
            }
            #expect(error.code == .notFound)

            let layers = try await defaults.explain("Theme", in: Self.app)
            #expect(layers.map(\.layer) == [.managed, .globalSystem])
            #expect(layers.map(\.isLocked) == [true, false])
            #expect(layers.map(\.hasValue) == [true, true])
            #expect(layers.first?.source == desktop.path(of: "\(Self.app).json", in: .managed))
            for entry in layers {
                let domain = try #require(entry.layer.domain(of: Self.app))
                let archive = try await defaults.archive(forKey: "Theme", in: domain).archive
                #expect(archive.bytes.count == Int(entry.size))
            }
            #expect(try await defaults.explain("Other", in: Self.app) == [])
            let entries = try await defaults.effectiveEntries(in: Self.app)
            #expect(entries.map(\.key) == ["Theme"])
            #expect(entries.first?.archive.bytes == managed.archive.bytes)
        }
    }

    @Test func `Locks and files are listed, and a refused write has its own error`()
        async throws
    {
        try await withDefaults { defaults in
            let file = desktop.path(of: "\(Self.app).json", in: .managed)
            #expect(try await defaults.isLocked("Theme", in: Self.app))
            #expect(try await defaults.isLocked("Prefixed", in: Self.app))
            #expect(try await defaults.isLocked("Free", in: Self.app) == false)
            #expect(try await defaults.isLocked("Theme", in: "org.example.Other") == false)
            let locks = try await defaults.locks(of: Self.app)
            #expect(Set(locks.map(\.pattern)) == ["Pre*", "Theme"])
            #expect(locks.allSatisfy { $0.file == file })
            let files = try await defaults.layerFiles()
            #expect(files.map(\.layer) == [.system, .managed])
            #expect(files.map(\.domain) == ["NSGlobalDomain", Self.app])
            #expect(files.map(\.domainWithLayer).last == "\(Self.app)@managed")
            #expect(files.allSatisfy { $0.problem == nil })
            let error = try await #require(throws: DefaultsError.self) {
                try await defaults.set(
                    try KeyedArchive(json: "1"), forKey: "Prefixed", in: Self.app)
            }
            #expect(error.code == .locked && error.message.contains(file))
        }
    }

    @Test func `The search list names each layer once, and an unknown name stays`() {
        #expect(
            DefaultsLayer.searchList(of: "a.b").map(\.rawValue) == [
                "managed", "global-managed", "host", "domain", "global-host", "global", "system",
                "global-system",
            ])
        let global = DefaultsLayer.searchList(of: "NSGlobalDomain")
        #expect(global.compactMap { $0.domain(of: "NSGlobalDomain") }.count == 4)
        let unknown = DefaultsLayer(rawValue: "registered")
        #expect("\(unknown)" == "registered" && unknown.domain(of: "a.b") == nil)
    }
}
