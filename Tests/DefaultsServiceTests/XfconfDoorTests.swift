import DBus
import DefaultsProtocol
import Testing

@testable import DefaultsService
@testable import ServiceHarness

/// The interface of Xfconf, and how it and the other ways to a domain see each other's changes.
@Suite struct XfconfDoorTests {
    private static let notFound = "org.xfce.Xfconf.Error.PropertyNotFound"
    private static let denied = "org.xfce.Xfconf.Error.PermissionDenied"
    private let domain = "xfconf.c"

    private func withXfconf(_ body: (DoorOnBus) async throws -> Void) async throws {
        let door = try await DoorOnBus.start(
            XfconfDoor.self, at: "/org/xfce/Xfconf", "org.xfce.Xfconf")
        try await body(door)
        try await door.service.end()
    }

    /// The value of a property of a channel.
    private func get(
        _ property: Value = "/n", of channel: Value = "c", in door: DoorOnBus
    ) async throws -> Value? {
        let reply = try await door.call("GetProperty", channel, property)
        guard case .variant(let value) = reply.first else { return nil }
        return value
    }

    private func set(
        _ value: Value, _ property: Value = "/n", of channel: Value = "c", in door: DoorOnBus
    ) async throws {
        try await door.call("SetProperty", channel, property, .variant(value))
    }

    private func changed(_ value: Value, of channel: Value = "c") -> DoorOnBus.Signal {
        .init(member: "PropertyChanged", arguments: [channel, "/n", .variant(value)])
    }

    private func removed(_ property: Value = "/n", of channel: Value = "c") -> DoorOnBus.Signal {
        .init(member: "PropertyRemoved", arguments: [channel, property])
    }

    @Test func `Other programs see properties as keys, and set them`() async throws {
        let (key, domain) = ("/n", "xfconf.a_2Eb")
        try await withXfconf { door in
            let caller = door.caller
            func get() async throws -> Value? { try await self.get(of: "a.b", in: door) }
            func changed(_ value: Value) -> DoorOnBus.Signal { self.changed(value, of: "a.b") }
            var signals: [DoorOnBus.Signal] = []
            func expect(_ next: DoorOnBus.Signal...) async {
                signals += next
                #expect(await door.signals() == signals)
            }
            try await set(.uint32(5), of: "a.b", in: door)
            await expect(changed(.uint32(5)))
            #expect(
                try await caller.get(domain, key).value
                    == ["$class": "GVariant", "type": "u", "value": 5])
            // A program that does not know the exact type keeps it.
            try await caller.set(domain, key, 7)
            await expect(changed(.uint32(7)))
            #expect(try await get() == .uint32(7))
            try await caller.remove(domain, key)
            await expect(removed(of: "a.b"))
            try await caller.set(domain, key, 7)
            await expect(changed(.int32(7)))
            try await caller.set(domain, key, true)
            await expect(changed(true))
            // A key that is not a property, and a value that a property cannot have.
            try await caller.set(domain, "n", 7)
            await expect()
            try await caller.set(domain, key, ["a": 1])
            await expect(removed(of: "a.b"))
            #expect(try await door.refusal("GetProperty", "a.b", "/n") == Self.notFound)
            #expect(try await door.call("PropertyExists", "a.b", "/n") == [false])
            #expect(try await door.call("GetAllProperties", "a.b", "/") == [[:]])
            try await set(.int32(1), of: "a.b", in: door)
            await expect(changed(.int32(1)))
            #expect(try await get() == .int32(1))
        }
    }

    @Test func `The layers of the channel's own domain apply, and no others`() async throws {
        try await withXfconf { door in
            let caller = door.caller
            var signals: [DoorOnBus.Signal] = []
            func expect(_ value: Int32) async throws {
                signals.append(changed(.int32(value)))
                #expect(await door.signals() == signals)
                #expect(try await get(in: door) == .int32(value))
            }
            try await caller.set("NSGlobalDomain", "/n", 1)
            #expect(try await door.refusal("GetProperty", "c", "/n") == Self.notFound)
            try await door.administer("vendor/\(domain).json", #"{"/n": 2}"#)
            try await expect(2)
            try await door.administer("recommended/\(domain).json", #"{"/n": 3}"#)
            try await expect(3)
            try await set(.int32(4), in: door)
            try await expect(4)
            try await caller.set(domain + "@host", "/n", 5)
            try await expect(5)
            // What programs set is what they see.
            try await set(.int32(6), in: door)
            try await expect(6)
            let stored = try await caller.get(domain + "@host", "/n").value
            #expect(
                ExactValue(stored, plainInteger: .int32)
                    == ExactValue(.int32(6), plainInteger: .int32))
            try await caller.set(domain, "/n", 9)
            #expect(await door.signals() == signals)
            try await door.administer("managed/\(domain).json", #"{"/n": 7}"#)
            try await expect(7)
            #expect(try await door.call("IsPropertyLocked", "c", "/n") == [true])
            let one: Value = .variant(.int32(8))
            #expect(try await door.refusal("SetProperty", "c", "/n", one) == Self.denied)
            #expect(try await door.refusal("ResetProperty", "c", "/n", false) == Self.denied)
            #expect(try await door.refusal("ResetProperty", "c", "/n", true) == nil)
            try await door.removeFile("managed/\(domain).json")
            try await expect(6)
            try await door.call("ResetProperty", "c", "/n", true)
            #expect(try await get(in: door) == .int32(3))
            let rest = await door.signals().dropFirst(signals.count)
            #expect(!rest.isEmpty && rest.allSatisfy { $0 == changed(.int32(3)) })
        }
    }

    @Test func `What has no room or form is refused`() async throws {
        try await withXfconf { door in
            let values: [Value] = [
                .structure([.int32(1), .int32(2)]), ["a": 1],
                .array(of: "i", [.int32(1), .int32(2)]), .variant(1), [[[1]]], .objectPath("/a"),
            ]
            for value in values {
                let error = try await door.refusal("SetProperty", "c", "/n", .variant(value))
                #expect(error == "org.xfce.Xfconf.Error.InternalError", "\(value)")
            }
            let long = Value.string("/" + String(repeating: "a", count: 1024))
            #expect(
                try await door.refusal("SetProperty", "c", long, .variant(.int32(1)))
                    == "org.xfce.Xfconf.Error.InvalidProperty")
            // It is read on another thread.
            let text = Value.text(of: 1 << 20)
            try await set(text, in: door)
            #expect(try await get(in: door) == text)
            let all = try await door.call("GetAllProperties", "c", "/")
            #expect(all == [["/n": text]])
            // Above the size of a value.
            #expect(
                try await door.refusal("SetProperty", "c", "/n", .variant(.text(of: 20 << 20)))
                    == "org.xfce.Xfconf.Error.WriteFailure")
            let list = Value.strings([String](repeating: "x", count: 70_000))
            #expect(
                try await door.refusal("SetProperty", "c", "/m", .variant(list))
                    == "org.xfce.Xfconf.Error.InternalError")
        }
    }

    @Test func `Large values are properties if they have a type of Xfconf`() async throws {
        let text = Value.text(of: 100_000)
        try await withXfconf { door in
            try await door.caller.set(domain, "/large", text)
            #expect(try await get("/large", in: door) == text)
            #expect(try await door.call("PropertyExists", "c", "/large") == [true])
            try await door.caller.set(domain, "/large", ["a": text])
            #expect(try await door.refusal("GetProperty", "c", "/large") == Self.notFound)
            for property: Value in ["/large", "/other"] {
                #expect(try await door.call("PropertyExists", "c", property) == [false])
            }
        }
    }

    @Test func `Many properties are read and reset at once`() async throws {
        let keys = (0..<2000).map { "/k\($0)" }
        try await withXfconf { door in
            try await door.caller.call(
                Contract.ApplyValues.self,
                .init(domain: domain, set: keys.map { ($0, .int64(7)) }))
            let all = try await door.call("GetAllProperties", "c", "/")
            guard case .dictionary(_, _, let entries) = all.first else {
                return #expect(Bool(false), "\(all)")
            }
            #expect(entries.count == keys.count)
            #expect(entries.allSatisfy { $0.value == .variant(.int32(7)) })
            let before = await door.signals().count
            try await door.call("ResetProperty", "c", "/", true)
            try await set(.int32(1), "/later", of: "d", in: door)
            // They are sent in several portions, before the one for the later change.
            let signals = await door.signals().dropFirst(before)
            #expect(signals.count == keys.count + 1)
            let names = signals.dropLast().compactMap { signal -> String? in
                guard signal.member == "PropertyRemoved",
                    case .string(let name) = signal.arguments[1]
                else { return nil }
                return name
            }
            #expect(Set(names) == Set(keys) && names.count == keys.count)
            #expect(signals.last?.arguments.first == "d")
            #expect(try await door.call("ListChannels") == [.strings(["d"])])
        }
    }
}
