import ArchiveTestSupport
import DBus
import DefaultsProtocol
import DefaultsTerms
import Glibc
import SystemCalls
import PropertyList
import Testing

@testable import ServiceHarness

/// Input of a hostile or careless caller: each is refused by name, and changes nothing.
@Suite struct BadInputTests {
    private let app = "org.example.App"
    private let account = Tree.archive(
        ["$class": .uid(3), "username": .uid(2)], "ada", .record("Account"))

    @Test func `A wrongly spelled domain is InvalidDomain`() async throws {
        try await withCaller { caller, _ in
            for (domain, fact) in [
                ("", "no name"), (String(repeating: "a", count: 256), "256"),
                ("org..app", "element"), (".org", "element"), ("org.", "element"),
                ("org/app", "/"), ("org app", " "), ("o\u{E9}", ""), ("org.app@host:", ""),
                ("org.app@other", "other"), ("a@b@c", ""),
            ] {
                let refused = try await refusal { try await caller.keys(domain) }
                #expect(refused?.code == .invalidDomain, "\(domain)")
                #expect(fact.isEmpty || refused?.message.contains(fact) == true, "\(domain)")
            }
        }
    }

    @Test func `A key that is empty or too long is InvalidKey`() async throws {
        try await withCaller { caller, _ in
            for key in ["", String(repeating: "k", count: 1025)] {
                let refusals = [
                    try await refusal {
                        try await caller.call(Contract.Get.self, (domain: app, key: key))
                    },
                    try await refusal { try await caller.remove(app, key) },
                    try await refusal { try await caller.get(app, key) },
                ]
                for refused in refusals { #expect(refused?.code == .invalidKey) }
            }
        }
    }

    @Test func `Bytes that are not a keyed archive are InvalidArchive with the offset`()
        async throws
    {
        let property = "<?xml version=\"1.0\"?><plist version=\"1.0\"><dict/></plist>"
        let cases: [(bytes: [UInt8], what: String)] = [
            ([], "nothing at all"), (Array(property.utf8), "XML"), (Array(0..<200), "random bytes"),
            (account.dropLast(), "cut short"), (Array(account.prefix(40)), "cut shorter"),
            (account.dropLast() + [0xFF], "a wrong trailer"),
            (Tree(archive: ["ada"], top: ["root": .uid(99)]).bytes(), "a reference out of range"),
            ((["a": 1] as Tree).bytes(), "a property list that is not an archive"),
        ]
        try await withCaller { caller, _ in
            for (bytes, what) in cases {
                let refused = try await refusal {
                    try await caller.call(
                        Contract.Set.self, (domain: app, key: "Key", archive: bytes))
                }
                #expect(refused?.code == .invalidArchive, "\(what)")
                #expect(refused?.message.contains("byte ") == true, "\(what)")
                #expect(try await caller.domains().isEmpty, "\(what)")
            }
        }
    }

    @Test func `A value over the limit is TooLarge, even far over it, and nothing changes`()
        async throws
    {
        try await withCaller { caller, _ in
            for size in [ContractLimits.maximumValueSize + 1, 60 << 20] {
                let refused = try await refusal {
                    try await caller.call(
                        Contract.Set.self,
                        (domain: app, key: "Key", archive: [UInt8](repeating: 0, count: size)))
                }
                #expect(refused?.code == .tooLarge)
            }
            #expect(try await caller.domains().isEmpty)
        }
    }

    @Test func `Wrong signatures are InvalidArgs that name the right one`() async throws {
        try await withCaller { caller, _ in
            let refused = try await refusal {
                try await caller.ask("Get", [.string(app), .uint32(7)])
            }
            #expect(refused?.code == .invalidArguments)
            #expect(refused?.message.contains("'ss'") == true)
            #expect(refused?.message.contains("'su'") == true)
        }
    }

    @Test func `A write to a layer that is not the user's is Locked`() async throws {
        try await withCaller { caller, _ in
            for domain in [app + "@managed", app + "@system"] {
                let refusals = [
                    try await refusal { try await caller.set(domain, "Key", true) },
                    try await refusal { try await caller.remove(domain, "Key") },
                ]
                for refused in refusals { #expect(refused?.code == .locked) }
            }
        }
    }

    @Test func `A value that represents no archive is InvalidArgs`() async throws {
        let null = FileDescriptor(owning: open("/dev/null", O_RDONLY | O_CLOEXEC))
        let cases: [(value: Value, fact: String)] = [
            (.unixFD(null), "descriptor"),
            (
                .dictionary(key: "i", value: "v", [.init(.int32(1), .variant(true))]), "keys"
            ),
            (["$class": "A", "$mystery": 1], "begins with $"), (["$ref": 1], "$ref"),
        ]
        try await withService { service in
            // A program on the daemon's own socket is disconnected when it sends a descriptor.
            for (value, fact) in cases {
                let refused = try await refusal { try await service.peer.set(app, "Key", value) }
                #expect(refused?.code == .invalidArguments, "\(fact)")
                #expect(refused?.message.contains(fact) == true, "\(fact)")
            }
        }
    }

    @Test func `Reading a missing key is NotFound with its name`() async throws {
        try await withCaller { caller, _ in
            let refusals = [
                try await refusal {
                    try await caller.call(Contract.Get.self, (domain: app, key: "Colour"))
                },
                try await refusal { try await caller.get(app, "Colour") },
            ]
            for refused in refusals {
                #expect(refused?.code == .notFound)
                #expect(refused?.message.contains("Colour") == true)
                #expect(refused?.message.contains(app) == true)
            }
            #expect(try await caller.keys(app).isEmpty)
            #expect(try await caller.remove(app, "Colour") == 1)
        }
    }
}
