import DBus
import DefaultsProtocol
import Testing

@testable import DefaultsService
@testable import ServiceHarness

/// The interface of a backend of the Settings portal.
@Suite struct PortalDoorTests {
    private static let notFound = "org.freedesktop.portal.Error.NotFound"
    private static let domain = "org.freedesktop.appearance"
    private let domain = PortalDoorTests.domain

    private func withPortal(_ body: (DoorOnBus) async throws -> Void) async throws {
        let door = try await DoorOnBus.start(
            PortalDoor.self, at: "/org/freedesktop/portal/desktop",
            "org.freedesktop.impl.portal.Settings")
        try await body(door)
        try await door.service.end()
    }

    private func read(_ key: Value, _ door: DoorOnBus) async throws -> Value? {
        guard case .variant(let value) = try await door.call("Read", .string(domain), key).first
        else { return nil }
        return value
    }

    /// The settings that patterns cover.
    private func readAll(_ door: DoorOnBus, _ patterns: String...) async throws -> Value? {
        try await door.call("ReadAll", .strings(patterns)).first
    }

    /// A reply of ReadAll.
    private func settings(_ settings: Value? = nil) -> Value {
        .dictionary(
            key: "s", value: "a{sv}",
            settings.map { [.init(.string(domain), $0)] } ?? [])
    }

    private func changed(_ key: Value, _ value: Value) -> DoorOnBus.Signal {
        .init(member: "SettingChanged", arguments: [.string(domain), key, .variant(value)])
    }

    private func color(_ parts: Double...) -> Value { .structure(parts.map(Value.double)) }

    @Test func `A value that is not a setting counts as missing`() async throws {
        try await withPortal { door in
            try await door.caller.set(domain, "contrast", 1)
            for value: Value in [3, "purple", .bytes([0]), -1] {
                try await door.caller.set(domain, "color-scheme", value)
                let error = try await door.refusal("Read", .string(domain), "color-scheme")
                #expect(error == Self.notFound, "\(value)")
            }
            try await door.caller.set(domain, "accent-color", [0, 0.5, 1.5])
            let error = try await door.refusal("Read", .string(domain), "accent-color")
            #expect(error == Self.notFound)
            #expect(try await readAll(door, "") == settings(["contrast": .uint32(1)]))
        }
    }

    @Test func `Nothing but the four settings can be read`() async throws {
        let names: [(namespace: String, key: String)] = [
            ("org.example.App", "color-scheme"), (Self.domain, "secret"), ("", ""),
            ("org.freedesktop.*", "color-scheme"), (Self.domain, "contrast"),
            (Self.domain + "@host", "color-scheme"), (Self.domain, "color-scheme\n"),
        ]
        try await withPortal { door in
            for (name, key) in [
                (domain, "color-scheme"), (domain, "secret"), ("org.example.App", "color-scheme"),
                ("NSGlobalDomain", "contrast"),
            ] { try await door.caller.set(name, key, 1) }
            for (namespace, key) in names {
                let error = try await door.refusal("Read", .string(namespace), .string(key))
                #expect(error == Self.notFound, "\(namespace) \(key)")
            }
            let scheme = settings(["color-scheme": .uint32(1)])
            for pattern in ["", "*", "org.freedesktop.*", "org.free*", domain] {
                #expect(try await readAll(door, pattern) == scheme, "\(pattern)")
            }
            #expect(try await readAll(door, "org.gnome.*", "*") == scheme)
            for pattern in ["org.gnome.*", "**", "org.freedesktop", "org.*.appearance", "*e"] {
                #expect(try await readAll(door, pattern) == settings(), "\(pattern)")
            }
        }
    }

    @Test func `The layers of the domain apply, and each change that shows has a signal`()
        async throws
    {
        try await withPortal { door in
            let (caller, host) = (door.caller, domain + "@host")
            var signals: [DoorOnBus.Signal] = []
            func expect(_ value: UInt32) async throws {
                signals.append(changed("color-scheme", .uint32(value)))
                #expect(await door.signals() == signals)
                #expect(try await read("color-scheme", door) == .uint32(value))
            }
            try await door.administer("vendor/\(domain).json", #"{"color-scheme": 1}"#)
            try await expect(1)
            try await caller.set(domain, "color-scheme", 2)
            try await expect(2)
            try await caller.set(host, "color-scheme", 0)
            try await expect(0)
            // A stronger layer has the key, so this has no signal.
            try await caller.set(domain, "color-scheme", 1)
            #expect(await door.signals() == signals)
            try await door.administer("managed/\(domain).json", #"{"color-scheme": 2}"#)
            try await expect(2)
            try await door.removeFile("managed/\(domain).json")
            try await expect(0)
            try await caller.remove(host, "color-scheme")
            try await expect(1)
            try await caller.set(domain, "other", 1)
            try await caller.set("org.example.App", "contrast", 1)
            try await caller.set(domain, "accent-color", "#ffffff")
            signals.append(changed("accent-color", color(1, 1, 1)))
            #expect(await door.signals() == signals)
        }
    }

    @Test func `A setting that has no value any more is announced as none`() async throws {
        try await withPortal { door in
            try await door.caller.set(domain, "color-scheme", 1)
            try await door.caller.set(domain, "accent-color", "#ffffff")
            try await door.caller.set(domain, "color-scheme", "nonsense")
            try await door.caller.remove(domain, "accent-color")
            #expect(
                await door.signals() == [
                    changed("color-scheme", .uint32(1)), changed("accent-color", color(1, 1, 1)),
                    changed("color-scheme", .uint32(0)),
                    changed("accent-color", color(-1, -1, -1)),
                ])
            #expect(try await readAll(door) == settings())
        }
    }
}
