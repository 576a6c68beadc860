import DBus
import DefaultsProtocol
import Foundation
import Glibc
import Testing

@testable import ServiceHarness

/// The layers that are made of files: effective values, and when a file takes effect.
@Suite struct LayersTests {
    private let app = "org.example.App"
    private let global = "NSGlobalDomain"
    private let file = "managed/org.example.App.json"

    /// What programs hear of a change, without its generation.
    private struct Heard: Equatable {
        let domain: String
        let layer: String
        var changed: [String] = []
        var removed: [String] = []
    }

    /// The changes that have been announced since the last look.
    private func heard(in service: TestService) -> [Heard] {
        defer { service.peer.forgetEvents() }
        return service.peer.changes.map {
            #expect($0.origin.isEmpty || $0.layer == "domain" || $0.layer == "host")
            return Heard(
                domain: $0.domain, layer: $0.layer, changed: $0.changed, removed: $0.removed)
        }
    }

    /// Where a value can be set, and what `Key` is there.
    private struct Place {
        let layer: String
        let domain: String
        /// The directory of the file; nil for a layer of the user.
        var directory: String?

        var value: String { directory ?? layer }
        var file: String? { directory.map { "\($0)/\(domain).json" } }
    }

    private func put(_ place: Place, _ caller: TestCaller, _ service: TestService) async throws {
        if let file = place.file {
            try await service.administer(file, #"{"Key": "\#(place.value)"}"#)
        } else {
            try await caller.set(place.domain, "Key", .string(place.value))
        }
    }

    private func remove(_ place: Place, _ caller: TestCaller, _ service: TestService) async throws {
        if let file = place.file {
            try await service.removeLayerFile(file)
        } else {
            try await caller.remove(place.domain, "Key")
        }
    }

    @Test func `The first layer of the search list that has the key is effective`() async throws {
        // Values in files lock the layers of the user, so these layers come first.
        let places = [
            Place(layer: "global-system", domain: global, directory: "vendor"),
            Place(layer: "system", domain: app, directory: "vendor"),
            Place(layer: "system", domain: app, directory: "recommended"),
            Place(layer: "global", domain: global),
            Place(layer: "global-host", domain: global + "@host"),
            Place(layer: "domain", domain: app), Place(layer: "host", domain: app + "@host"),
            Place(layer: "global-managed", domain: global, directory: "managed"),
            Place(layer: "managed", domain: app, directory: "managed"),
        ]
        try await withCaller { caller, service in
            func expectNothing() async throws {
                let refused = try await refusal {
                    try await caller.call(Contract.Lookup.self, (domain: app, key: "Key"))
                }
                #expect(refused?.code == .notFound)
            }
            func expectEffective(_ place: Place) async throws {
                let found = try await caller.lookUp(app, "Key")
                #expect(found == (.string(place.value), place.layer))
            }
            try await expectNothing()
            for place in places {
                try await put(place, caller, service)
                #expect(heard(in: service).count == 1, "\(place)")
                try await expectEffective(place)
            }
            let layers = try await caller.call(Contract.Explain.self, (domain: app, key: "Key"))
            #expect(
                layers.map(\.layer) == [
                    "managed", "global-managed", "host", "domain", "global-host", "global",
                    "system", "global-system",
                ])
            let files = [
                "managed/\(app).json", "managed/\(global).json", nil, nil, nil, nil,
                "recommended/\(app).json", "vendor/\(global).json",
            ]
            #expect(layers.map(\.source) == files.map { $0.map(service.layerFile) ?? "" })
            #expect(layers.map(\.isLocked) == [true, true] + Array(repeating: false, count: 6))
            for place in places.reversed() {
                try await expectEffective(place)
                try await remove(place, caller, service)
                #expect(heard(in: service).count == 1, "\(place)")
            }
            try await expectNothing()
        }
    }

    @Test func `Calls of the search list accept no suffix, and the global domain is one`()
        async throws
    {
        try await withCaller { caller, _ in
            let names = (domain: app + "@host", key: "Key")
            let refusals = [
                try await refusal { try await caller.call(Contract.Lookup.self, names) },
                try await refusal { try await caller.call(Contract.LookupValue.self, names) },
                try await refusal { try await caller.call(Contract.IsLocked.self, names) },
                try await refusal { try await caller.call(Contract.Explain.self, names) },
            ]
            for refused in refusals {
                #expect(refused?.code == .invalidDomain)
                #expect(refused?.message.contains("byte 15") == true)
            }
            try await caller.set(global, "Key", 1)
            #expect(try await caller.lookUp(global, "Key") == (1, "domain"))
            let layers = try await caller.call(
                Contract.Explain.self, (domain: global, key: "Key"))
            #expect(layers.map(\.layer) == ["domain"] && layers.map(\.source) == [""])
            #expect(layers.map(\.isLocked) == [false])
        }
    }

    @Test func `A file with the same contents as before announces no change`() async throws {
        try await withCaller { caller, service in
            try await service.administer(file, #"{"a": 1}"#)
            #expect(try await caller.lookUp(app, "a") == (1, "managed"))
            let generation = try await caller.generation()
            _ = heard(in: service)
            try await service.administer(file, #"{ "a":1 }"#)
            // The record of the files is another.
            #expect(try await caller.generation() != generation)
            try await caller.set(app, "end", 1)
            #expect(
                heard(in: service) == [Heard(domain: app, layer: "domain", changed: ["end"])])
        }
    }

    @Test func `A bad file is reported once, with its place, and its last good contents stay`()
        async throws
    {
        let dropIn = "managed/\(app).d/10.json"
        try await withCaller { caller, service in
            try await service.administer(file, #"{"a": 1, "b": 1}"#)
            try await service.administer(dropIn, #"{"b": 2}"#)
            #expect(try await caller.lookUp(app, "b") == (2, "managed"))
            _ = heard(in: service)
            try await service.administer(dropIn, "{\n  \"b\": 3,\n  oops")
            try await service.administer(file, #"{"a": 4, "b": 4}"#)
            let changed = Heard(domain: app, layer: "managed", changed: ["a"])
            #expect(heard(in: service) == [changed])
            #expect(try await caller.lookUp(app, "b") == (2, "managed"))
            let path = service.layerFile(dropIn)
            #expect(service.log(containing: "\(path):3:3: ").count == 1)
            #expect(try await service.problem(of: path, caller)?.contains(":3:3: ") == true)
            #expect(try await service.problem(of: service.layerFile(file), caller) == "")
            // Another start reports it again, and the values stay.
            try await service.restart()
            let next = try await service.caller()
            #expect(try await next.lookUp(app, "b") == (2, "managed"))
            #expect(service.log(containing: "\(path):3:3: ").count == 2)
            _ = heard(in: service)
            try await service.administer(dropIn, #"{"b": 5}"#)
            #expect(
                heard(in: service) == [Heard(domain: app, layer: "managed", changed: ["b"])])
            #expect(try await next.lookUp(app, "b") == (5, "managed"))
        }
    }

    @Test(arguments: [TestService.Ending.orderly, .dropped])
    func `A start finds the changes made meanwhile, and nothing if there are none`(
        ending: TestService.Ending
    ) async throws {
        var setup = TestService.Setup()
        setup.layerFiles = [
            file: #"{"a": 1, "b": 1}"#, "vendor/org.example.Other.json": #"{"a": 1}"#,
        ]
        try await withCaller(setup) { caller, service in
            let generation = try await caller.generation()
            try await service.restart(ending)
            #expect(try await service.caller().generation() == generation)
            try await service.restart(ending) {
                try service.files.writeLayerFile(file, #"{"b": 2}"#)
                try FileManager.default.removeItem(
                    atPath: service.layerFile("vendor/org.example.Other.json"))
            }
            let next = try await service.caller()
            let changes = try await next.changes(of: app + "@managed", since: generation)
            #expect(changes.removed == ["a"] && changes.changed.map(\.0) == ["b"])
            #expect(changes.isComplete)
            #expect(try await next.keys("org.example.Other@system").isEmpty)
            #expect(try await next.lookUp(app, "b") == (2, "managed"))
        }
    }

    @Test func `Property lists in both forms are read like JSON`() async throws {
        let list: [String: Any] = [
            "text": "ä", "flag": true, "list": [1, 2.5, Data("x".utf8)], "$locked": ["Other*"],
        ]
        let forms: [(name: String, form: PropertyListSerialization.PropertyListFormat)] = [
            ("Xml", .xml), ("Binary", .binary),
        ]
        try await withCaller { caller, service in
            try await service.changeFiles {
                for (name, form) in forms {
                    let path = service.layerFile("managed/org.example.\(name).plist")
                    try PropertyListSerialization.data(
                        fromPropertyList: list, format: form, options: 0
                    ).write(to: URL(filePath: path))
                }
            }
            for (name, _) in forms {
                let values = try await caller.values("org.example.\(name)@managed")
                let bytes = Value.bytes(Array("x".utf8))
                #expect(
                    values == ["flag": true, "list": [1, 2.5, bytes], "text": "ä"], "\(name)")
                #expect(try await caller.isLocked("org.example.\(name)", "Other1"), "\(name)")
            }
        }
    }
}
