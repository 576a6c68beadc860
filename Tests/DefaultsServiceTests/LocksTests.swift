import DBus
import DefaultsProtocol
import DefaultsTerms
import KeyedArchive
import Testing

@testable import ServiceHarness

/// What the administrator locks.
@Suite struct LocksTests {
    private let app = "org.example.App"
    private let file = "managed/org.example.App.json"

    /// Starts a service with values of the user, some of which are locked after that.
    private func withLocks(
        _ body: (TestCaller, TestService) async throws -> Void
    ) async throws {
        try await withCaller { caller, service in
            for key in ["Theme", "Proxy.Host", "Free"] { try await caller.set(app, key, "mine") }
            try await service.administer(
                file, #"{"Theme": "corporate", "$locked": ["Proxy.*", "Single"]}"#)
            #expect(try await caller.isLocked(app, "Theme"))
            try await body(caller, service)
        }
    }

    private typealias Change = (what: String, make: (TestCaller, String) async throws -> UInt64)

    private func setting(_ key: String) -> Change {
        ("SetValue \(key)", { try await $0.set($1, key, 1) })
    }

    private func removing(_ key: String) -> Change {
        ("Remove \(key)", { try await $0.remove($1, key) })
    }

    private func renaming(_ old: String, _ new: String) -> Change {
        ("Rename \(old) \(new)", { try await $0.rename($1, old, new) })
    }

    @Test func `A write to a locked key is refused with the file's name, and changes nothing`()
        async throws
    {
        let archive = try KeyedArchive(json: "1").bytes
        let changes: [Change] = [
            (
                "Set",
                { caller, domain in
                    try await caller.call(
                        Contract.Set.self, (domain: domain, key: "Theme", archive: archive))
                }
            ),
            setting("Theme"), removing("Theme"), setting("Proxy.Host"), setting("Proxy."),
            setting("Single"), removing("Single"), removing("Proxy.Absent"),
            renaming("Theme", "New"), renaming("Free", "Single"),
            ("set two", { try await $0.apply($1, ["Theme": 1, "Free": 1]) }),
            ("set and remove", { try await $0.apply($1, ["Free": 1], removing: ["Proxy.Host"]) }),
        ]
        try await withLocks { caller, service in
            let before = try await caller.generation()
            let whole: Change = ("RemoveDomain", { try await $0.removeDomain($1) })
            let attempts =
                changes.flatMap { change in
                    ["", "@host", "@host:elsewhere"].map { (change, app + $0) }
                } + [(whole, app)]
            for (change, domain) in attempts {
                let refused = try await refusal { try await change.make(caller, domain) }
                let comment = Comment(rawValue: "\(change.what) \(domain)")
                #expect(refused?.code == .locked, comment)
                let words = service.layerFile(file) + ". Nothing was changed."
                #expect(refused?.message.contains(words) == true, comment)
            }
            #expect(try await caller.generation() == before)
        }
    }

    @Test func `The user can set all other keys`() async throws {
        try await withLocks { caller, _ in
            for change in [
                setting("Free"), setting("Proxy"), setting("Singles"), renaming("Free", "Freed"),
                removing("Freed"),
            ] {
                let before = try await caller.generation()
                #expect(try await change.make(caller, app) == before + 1, "\(change.what)")
            }
        }
    }

    @Test func `With list-locked, the error has all locked keys of the change`() async throws {
        let listing = TransactionOptions<PlainNames>(listsLocked: true)
        try await withLocks { caller, _ in
            let one = try await refusal {
                try await caller.apply(
                    app, ["Free": 1, "Theme": 1], removing: ["Proxy.Host"], listing)
            }
            #expect(one?.code == .locked)
            #expect(one?.locked == [.init(domain: app, keys: ["Theme", "Proxy.Host"])])
            let several = try await refusal {
                try await caller.applyAll(
                    [
                        caller.part(app, ["Single": 1]),
                        caller.part("org.example.Other", ["Single": 1], expecting: ["": 7]),
                        caller.part(app + "@host", ["Free": 1], removing: ["Theme"]),
                    ], listing)
            }
            #expect(
                several?.locked == [
                    .init(domain: app, keys: ["Single"]),
                    .init(domain: app + "@host", keys: ["Theme"]),
                ])
            let layer = try await refusal {
                try await caller.apply(app + "@managed", ["x": 1], removing: ["y"], listing)
            }
            #expect(layer?.code == .locked)
            #expect(layer?.locked == [.init(domain: app + "@managed", keys: ["x", "y"])])
            // Programs that have not asked get none.
            let plain = try await refusal { try await caller.apply(app, ["Theme": 1]) }
            #expect(plain?.code == .locked && plain?.locked.isEmpty == true)
        }
    }

    @Test func `Of very many locked keys the error names the first`() async throws {
        let names = (0..<1500).map { "Proxy.\(1000 + $0)" + String(repeating: "k", count: 990) }
        try await withLocks { caller, _ in
            let refused = try await refusal {
                try await caller.apply(app, removing: names, .init(listsLocked: true))
            }
            let locked = try #require(refused?.locked)
            #expect(locked.map(\.domain) == [app])
            let keys = try #require(locked.first?.keys)
            #expect(keys == Array(names.prefix(keys.count)))
            let most = ContractLimits.maximumLockedNames
            #expect((most - 24_576..<most).contains(keys.count * 1000))
        }
    }

    @Test func `The user's earlier value is kept, and visible again without the lock`()
        async throws
    {
        try await withLocks { caller, service in
            #expect(try await caller.lookUp(app, "Theme") == ("corporate", "managed"))
            // A lock without a value leaves what holds.
            #expect(try await caller.lookUp(app, "Proxy.Host") == ("mine", "domain"))
            #expect(try await caller.get(app, "Theme").value == "mine")
            try await service.restart()
            let next = try await service.caller()
            #expect(try await next.lookUp(app, "Theme") == ("corporate", "managed"))
            #expect(try await next.isLocked(app, "Proxy.Host"))
            try await service.removeLayerFile(file)
            #expect(try await next.lookUp(app, "Theme") == ("mine", "domain"))
            try await next.set(app, "Proxy.Host", 1)
        }
    }

    @Test func `A lock of the global domain is valid for every application`() async throws {
        try await withLocks { caller, service in
            try await service.administer("managed/NSGlobalDomain.json", #"{"$locked": ["*"]}"#)
            let another = "org.example.Another"
            #expect(try await caller.isLocked(another, "Any"))
            let refused = try await refusal { try await caller.set(another, "Any", 1) }
            #expect(refused?.code == .locked)
            #expect(refused?.message.contains("NSGlobalDomain.json") == true)
            let global = try await refusal { try await caller.set("NSGlobalDomain", "Any", 1) }
            #expect(global?.code == .locked)
            // The file of the domain itself is named first.
            let own = try await refusal { try await caller.remove(app, "Theme") }
            #expect(own?.message.contains("org.example.App.json") == true)
            let locks = try await caller.call(Contract.ListLocks.self, app)
            let globalFile = service.layerFile("managed/NSGlobalDomain.json")
            let ownFile = service.layerFile(file)
            #expect(locks.map(\.pattern) == ["Proxy.*", "Single", "Theme", "*"])
            #expect(locks.map(\.path) == [ownFile, ownFile, ownFile, globalFile])
        }
    }

    @Test func `A repeated token gets its result, even if its keys are locked by then`()
        async throws
    {
        try await withLocks { caller, service in
            let first = try await caller.apply(app, ["Later": 1], .init(token: "once"))
            try await service.administer(file, #"{"$locked": ["Later", "\u0600*"]}"#)
            #expect(try await caller.isLocked(app, "Later"))
            #expect(try await caller.apply(app, ["Later": 1], .init(token: "once")) == first)
            // A prefix is bytes: this character and the following ones look like one.
            #expect(try await caller.isLocked(app, "\u{600}x"))
        }
    }

    @Test func `Layers that are made of files are read only`() async throws {
        try await withLocks { caller, _ in
            for layer in ["managed", "system"] {
                let changes: [Change] = [
                    setting("x"), removing("x"), renaming("Theme", "x"),
                    ("RemoveDomain", { try await $0.removeDomain($1) }),
                    ("ApplyValues", { try await $0.apply($1, ["x": 1]) }),
                ]
                for change in changes {
                    let refused = try await refusal {
                        try await change.make(caller, "\(app)@\(layer)")
                    }
                    let comment = Comment(rawValue: "\(change.what) \(layer)")
                    #expect(refused?.code == .locked, comment)
                    let words = "Write to org.example.App."
                    #expect(refused?.message.contains(words) == true, comment)
                }
            }
            #expect(try await caller.domains() == [app])
        }
    }

    @Test func `Nobody can name the record of the files, and no list shows it`() async throws {
        try await withLocks { caller, _ in
            let managed = app + "@managed"
            #expect(try await caller.keys(managed) == ["Theme"])
            let all = try await caller.call(Contract.GetAll.self, managed)
            #expect(all.entries.map(\.0) == ["Theme"])
            let changes = try await caller.changes(of: managed, since: 0)
            #expect(changes.changed.map(\.0) == ["Theme"] && changes.large.isEmpty)
            let refused = try await refusal {
                try await caller.call(Contract.Get.self, (domain: managed, key: ""))
            }
            #expect(refused?.code == .invalidKey)
        }
    }

    @Test func `A restored backup does not change locked keys and layers made of files`()
        async throws
    {
        try await withLocks { caller, service in
            try await service.administer(file, "{}")
            #expect(try await !caller.isLocked(app, "Theme"))
            try await caller.set(app, "Theme", "older")
            let backup = try await caller.call(Contract.BackUp.self, ())
            for key in ["Theme", "Free"] { try await caller.set(app, key, "newer") }
            try await service.administer(file, #"{"$locked": ["Theme"], "Added": 1}"#)
            #expect(try await caller.isLocked(app, "Theme"))
            let restored = try await caller.call(Contract.RestoreBackup.self, backup)
            #expect(restored.set == 1 && restored.locked == 1 && restored.removed == 0)
            #expect(try await caller.get(app, "Free").value == "mine")
            #expect(try await caller.get(app, "Theme").value == "newer")
            #expect(try await caller.keys(app + "@managed") == ["Added"])
        }
    }
}
