import DBus
import DefaultsProtocol
import Testing

@testable import ServiceHarness

/// What an application in a sandbox can do and see, by every method: its own domains and the global one.
@Suite struct ApplicationRightsTests {
    private static let app = "org.example.App"
    private static let helper = "org.example.App.Helper"
    /// The domain of another application, and one that does not exist.
    private static let other = "org.example.Application"
    private static let absent = "org.example.Nobody"
    private static let global = "NSGlobalDomain"

    private typealias Answer = RawAnswer

    // MARK: Every member

    /// The arguments after the domain.
    private static let reading: [MemberName: [Value]] = [
        "Get": ["Key"], "GetValue": ["Key"], "GetAll": [], "GetAllValues": [], "ListKeys": [],
        "GetChanges": [.uint64(1)], "GetTimes": [.strings(["Key"])],
    ]
    /// These take no suffix.
    private static let searching: [MemberName: [Value]] = [
        "Lookup": ["Forced"], "LookupValue": ["Forced"], "IsLocked": ["Forced"],
        "Explain": ["Forced"],
    ]
    private static let changing: [MemberName: [Value]] = [
        "Set": ["Key", .bytes([0])], "SetValue": ["Key", .variant(9)], "Remove": ["Nothing"],
        "Rename": ["Key", "NewKey"], "RemoveDomain": [],
        "Apply": [.archives(), .strings([]), .generations(), [:]],
        "ApplyValues": [["Key": 10], .strings([]), .generations(), [:]],
    ]
    /// What these set in a domain, beside whatever else they change, and the type of a change.
    private static let joint: [MemberName: (set: Value, type: Signature)] = [
        "ApplyAll": (.archives(), "(sa{say}asa{st})"),
        "ApplyAllValues": (["Key": 10], "(sa{sv}asa{st})"),
    ]
    private static let contract = Contract.interface
    private static let maintenance = Contract.maintenanceInterface
    private static let history = Contract.historyInterface
    private static let properties: InterfaceName = "org.freedesktop.DBus.Properties"

    private typealias Method = (interface: InterfaceName, name: MemberName, arguments: [Value])

    private static let open: [Method] = [
        (contract, "ListDomains", []), (contract, "Synchronize", []),
        ("org.freedesktop.DBus.Peer", "Ping", []),
        ("org.freedesktop.DBus.Peer", "GetMachineId", []),
        ("org.freedesktop.DBus.Introspectable", "Introspect", []),
        (properties, "Get", [.string(contract.string), "DatabasePath"]),
        (properties, "GetAll", [.string(contract.string)]),
        (properties, "Set", [.string(contract.string), "Version", .variant("2")]),
    ]
    private static let closed: [Method] = [
        (contract, "Attach", [.strings([app])]), (contract, "Follow", [.strings([app])]),
        (contract, "AttachValues", [.strings([app])]),
        (contract, "FollowValues", [.strings([app])]), (contract, "Unfollow", [.strings([app])]),
        (maintenance, "FindWriter", [.uint64(1)]),
        (maintenance, "MeasureDomain", [.string(app), .uint32(1)]),
        (maintenance, "ListQuotas", [.uint32(0)]), (maintenance, "ListLocks", [.string(app)]),
        (maintenance, "RestoreBackup", [""]),
        (maintenance, "Restore", ["", "", .strings([]), true]),
        (maintenance, "GetStatistics", []), (maintenance, "ListWriters", []),
        (maintenance, "ListHosts", []), (maintenance, "ListLayerFiles", []),
        (maintenance, "ListBackups", []), (maintenance, "BackUp", []),
        (maintenance, "HandOver", []),
        (history, "ListActions", [[:]]), (history, "GetAction", [.uint64(1)]),
        (history, "GetAt", [.string(app), .strings([]), .uint64(1), .int64(0)]),
        (history, "Undo", [.array(of: "(tt)", []), [:]]),
        (history, "Redo", [.array(of: "(tt)", []), [:]]),
    ]

    /// Starts a service with values of several applications, one of which is connected.
    private func withApplication(
        _ body: (_ application: TestCaller, _ caller: TestCaller) async throws -> Void
    ) async throws {
        var setup = TestService.Setup()
        for domain in [Self.app, Self.other] {
            setup.layerFiles["managed/\(domain).json"] = #"{"Forced": 7}"#
            setup.layerFiles["recommended/\(domain).json"] = #"{"Vendor": 8}"#
        }
        try await withCaller(setup) { caller, service in
            for domain in [Self.app, Self.helper, Self.other, Self.global] {
                try await caller.set(domain, "Key", 5)
                try await caller.set(domain + "@host", "Key", 6)
            }
            // What is not on disk yet has the present time in GetTimes, which may be another second later.
            try await caller.synchronize()
            #expect(try await caller.get(Self.app + "@managed", "Forced").value == 7)
            #expect(try await caller.get(Self.other + "@system", "Vendor").value == 8)
            try await body(service.caller(.application(Self.app)), caller)
        }
    }

    /// All methods of the object, with their interfaces.
    private func methods(_ caller: TestCaller) async throws -> Set<String> {
        let reply = try await caller.ask(
            "Introspect", of: "org.freedesktop.DBus.Introspectable")
        guard case .string(let text) = reply.first else { return [] }
        var interface = ""
        return Set(
            text.split(separator: "\n").compactMap {
                if let match = $0.firstMatch(of: /<interface name="([^"]+)"/) {
                    interface = String(match.1)
                }
                return $0.firstMatch(of: /<method name="([^"]+)"/).map { "\(interface).\($0.1)" }
            })
    }

    @Test func `Every method has its place in the table of rights`() async throws {
        let tables = [Self.reading, Self.searching, Self.changing].flatMap(\.keys)
        let ofDomains = (tables + Self.joint.keys).map { "\(Self.contract).\($0)" }
        let others = (Self.open + Self.closed).map { "\($0.interface).\($0.name)" }
        try await withCaller { (caller, _) async throws in
            #expect(try await Set(ofDomains + others) == methods(caller))
        }
    }

    @Test func `What may not be seen is as what does not exist, and the own domains are read`()
        async throws
    {
        let calls =
            Self.reading.flatMap { method in
                ["", "@host", "@managed", "@system"].map { (method.key, $0, method.value) }
            } + Self.searching.map { ($0.key, "", $0.value) }
        try await withApplication { application, caller in
            for (method, suffix, arguments) in calls {
                func answer(_ name: String, to program: TestCaller) async throws -> Answer {
                    try await program.answer(method, [.string(name + suffix)] + arguments)
                }
                let place = Comment(rawValue: "\(method)\(suffix)")
                let hidden = try await answer(Self.other, to: application)
                let absent = try await answer(Self.absent, to: application)
                #expect(
                    hidden.replacing(Self.other, with: "X")
                        == absent.replacing(Self.absent, with: "X"), place)
                // There is something that a program outside of the sandbox sees; files say no times.
                let hasNothing =
                    method == "GetTimes" && ["@managed", "@system"].contains(suffix)
                let outside = try await answer(Self.other, to: caller)
                #expect(hasNothing || outside.isRefusal || outside != absent, place)
                for own in [Self.app, Self.global] {
                    #expect(
                        try await answer(own, to: application) == answer(own, to: caller), place)
                }
            }
            #expect(try await application.get(Self.helper, "Key").value == 5)
        }
    }

    @Test func `Only the own domains are changed`() async throws {
        try await withApplication { application, caller in
            func contents() async throws -> [[String: Value]] {
                var contents: [[String: Value]] = []
                for domain in [Self.other, Self.global].flatMap({ [$0, $0 + "@host"] }) {
                    contents.append(try await caller.values(domain))
                }
                return contents
            }
            let before = try await contents()
            for (method, arguments) in Self.changing {
                for suffix in ["", "@host", "@managed", "@system", "@host:elsewhere"] {
                    func answer(_ name: String) async throws -> Answer {
                        try await application.answer(method, [.string(name + suffix)] + arguments)
                    }
                    let place = Comment(rawValue: "\(method)\(suffix)")
                    let hidden = try await answer(Self.other)
                    #expect(hidden.isDenied, place)
                    #expect(
                        try await hidden.replacing(Self.other, with: "X")
                            == answer(Self.absent).replacing(Self.absent, with: "X"), place)
                    #expect(try await answer(Self.global).isDenied, place)
                }
            }
            #expect(try await contents() == before)
            for own in [Self.app, Self.helper, Self.app + "@host"] {
                for method: MemberName in [
                    "SetValue", "ApplyValues", "Rename", "Remove", "RemoveDomain",
                ] {
                    let answer = try await application.answer(
                        method, [.string(own)] + (Self.changing[method] ?? []))
                    #expect(!answer.isRefusal, "\(method) \(answer)")
                }
                #expect(try await caller.keys(own).isEmpty)
            }
            let layer = try await refusal {
                try await application.set(Self.app + "@managed", "Key", 1)
            }
            #expect(layer?.code == .locked)
        }
    }

    @Test func `A change of several domains is refused if one of them may not be changed`()
        async throws
    {
        try await withApplication { application, caller in
            for (method, (set, type)) in Self.joint {
                func answer(_ domains: [String]) async throws -> Answer {
                    let parts = domains.map {
                        Value.structure([.string($0), set, .strings([]), .generations()])
                    }
                    return try await application.answer(method, [.array(of: type, parts), [:]])
                }
                let before = try await caller.values(Self.app)
                for order in [[Self.app, Self.other], [Self.other, Self.app]] {
                    #expect(try await answer(order).isDenied, "\(method)")
                }
                #expect(try await caller.values(Self.app) == before)
                #expect(try await !answer([Self.app, Self.helper]).isRefusal, "\(method)")
            }
        }
    }

    @Test func `The other methods tell nothing of the domains of others`() async throws {
        try await withApplication { application, _ in
            for (interface, name, arguments) in Self.open {
                let answer = try await application.answer(name, arguments, of: interface)
                #expect(!answer.isDenied && !answer.text.contains(Self.other), "\(name)")
            }
            let own = [Self.global, Self.app, Self.helper].flatMap { [$0, $0 + "@host"] }
            #expect(try await application.domains() == own)
            for (interface, name, arguments) in Self.closed {
                let answer = try await application.answer(name, arguments, of: interface)
                #expect(answer.isDenied, "\(name): \(answer)")
                // Its sentence names the method.
                #expect(
                    answer.text.contains("\(name) is not allowed for programs in a sandbox."),
                    "\(name): \(answer)")
            }
        }
    }
}

/// What a call comes to, as text: its reply, or the error with its sentence.
private struct RawAnswer: Equatable {
    let text: String
    let isRefusal: Bool
    let isDenied: Bool

    func replacing(_ name: String, with other: String) -> RawAnswer {
        RawAnswer(
            text: text.replacing(name, with: other), isRefusal: isRefusal, isDenied: isDenied)
    }
}

extension TestCaller {
    fileprivate func answer(
        _ method: MemberName, _ arguments: [Value], of interface: InterfaceName = Contract.interface
    ) async throws -> RawAnswer {
        do {
            let reply = try await ask(method, arguments, of: interface)
            return RawAnswer(text: "\(reply)", isRefusal: false, isDenied: false)
        } catch let error as ContractError {
            let text = "\(error.errorName) \(error.message)"
            return RawAnswer(text: text, isRefusal: true, isDenied: error.code == .accessDenied)
        } catch let error as DBusError {
            return RawAnswer(text: "\(error)", isRefusal: true, isDenied: false)
        }
    }
}
