import DBus
import DefaultsProtocol

/// Changes, in short.
extension TestCaller {
    /// Changes several keys of a domain at once.
    ///
    /// - Returns: The generation.
    @discardableResult
    func apply(
        _ domain: String, _ set: KeyValuePairs<String, Value> = [:],
        removing removed: [String] = [],
        expecting expected: KeyValuePairs<String, UInt64> = [:],
        _ options: TransactionOptions<PlainNames> = .init()
    ) async throws -> UInt64 {
        try await call(
            Contract.ApplyValues.self,
            .init(part(domain, set, removing: removed, expecting: expected), options: options))
    }

    /// Changes several domains at once.
    @discardableResult
    func applyAll(
        _ parts: [TransactionArguments<PlainNames, Value>],
        _ options: TransactionOptions<PlainNames> = .init()
    ) async throws -> UInt64 {
        try await call(Contract.ApplyAllValues.self, .init(parts, options: options))
    }

    /// What a change does to one domain.
    func part(
        _ domain: String, _ set: KeyValuePairs<String, Value> = [:],
        removing removed: [String] = [],
        expecting expected: KeyValuePairs<String, UInt64> = [:]
    ) -> TransactionArguments<PlainNames, Value> {
        .init(
            domain: domain, set: set.map { ($0.key, $0.value) }, removed: removed,
            expected: expected.map { (key: $0.key, generation: $0.value) })
    }

    /// Changes several keys of a domain at once, by their archives.
    @discardableResult
    func put(_ domain: String, _ archives: [(String, [UInt8])]) async throws -> UInt64 {
        try await call(Contract.Apply.self, .init(domain: domain, set: archives))
    }

    @discardableResult
    func remove(_ domain: String, _ key: String) async throws -> UInt64 {
        try await call(Contract.Remove.self, (domain: domain, key: key))
    }

    @discardableResult
    func removeDomain(_ domain: String) async throws -> UInt64 {
        try await call(Contract.RemoveDomain.self, domain)
    }

    @discardableResult
    func rename(_ domain: String, _ old: String, _ new: String) async throws -> UInt64 {
        try await call(Contract.Rename.self, (domain: domain, old: old, new: new))
    }

    @discardableResult
    func synchronize() async throws -> UInt64 {
        try await call(Contract.Synchronize.self, ())
    }
}

extension TransactionArguments where Names == PlainNames {
    fileprivate init(_ part: Self, options: TransactionOptions<PlainNames>) {
        self.init(
            domain: part.domain, set: part.set, removed: part.removed, expected: part.expected,
            options: options)
    }
}

/// What is there, in short.
extension TestCaller {
    func domains() async throws -> [String] { try await call(Contract.ListDomains.self, ()) }

    func keys(_ domain: String) async throws -> [String] {
        try await call(Contract.ListKeys.self, domain)
    }

    /// The values of a domain that D-Bus can carry.
    func values(_ domain: String) async throws -> [String: Value] {
        let entries = try await call(Contract.GetAllValues.self, domain).entries
        return Dictionary(entries) { first, _ in first }
    }

    /// What has changed since a generation.
    func changes(
        of domain: String, since generation: UInt64
    ) async throws -> Contract.GetChanges.Reply {
        try await call(Contract.GetChanges.self, (domain: domain, since: generation))
    }

    /// The effective value of a key, with its layer.
    func lookUp(_ domain: String, _ key: String) async throws -> Contract.LookupValue.Reply {
        try await call(Contract.LookupValue.self, (domain: domain, key: key))
    }

    func isLocked(_ domain: String, _ key: String) async throws -> Bool {
        try await call(Contract.IsLocked.self, (domain: domain, key: key))
    }

    /// The generation of the last change of any domain.
    func generation() async throws -> UInt64 {
        try await call(Contract.GetProperties.self, ()).uint64(Contract.currentGeneration)
    }

    /// The generation that is on disk.
    func durableGeneration() async throws -> UInt64 {
        try await call(Contract.GetProperties.self, ()).uint64(Contract.durableGeneration)
    }

    /// A property of the contract.
    func property(_ name: String) async throws -> Value? {
        let reply = try await ask(
            "Get", [.string(Contract.interface.string), .string(name)],
            of: "org.freedesktop.DBus.Properties")
        guard case .variant(let value) = reply.first else { return nil }
        return value
    }
}
