import ArgumentParser
import DefaultsClient
import DefaultsTerms
import KeyedArchive
import ValuePaths

struct Delete: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Removes a domain, a key, or a part of its value.",
        discussion: "It can also be called 'remove'.")

    @Argument(help: "The domain, such as org.example.Game.")
    var domain: String

    @Argument(help: "The key; without it, the whole domain.")
    var key: String?

    @OptionGroup var part: PathOption

    @OptionGroup var expectation: ExpectationOption

    @OptionGroup var change: ChangeOptions

    @OptionGroup var lock: LockOption

    @OptionGroup var host: HostOption

    func validate() throws {
        guard key == nil else { return }
        if part.path != nil {
            throw ValidationError("--path selects a part of a key's value. Give the key.")
        }
        if expectation.ifGeneration != nil {
            throw ValidationError("--if-generation is the generation of a key. Give the key.")
        }
    }

    func run(with defaults: RemoteDefaults) async throws {
        let keys = try await defaults.keys(in: domain)
        // For the service, removing a missing key is no error. But a person who has mistyped it
        // should know.
        guard key.map(keys.contains) ?? !keys.isEmpty else {
            if change.changed { return try change.tell(false) }
            if let key, try await lock.holds(key, in: domain, of: defaults) { return }
            throw await defaults.nothingDeleted(key, in: domain, of: keys)
        }
        let named = key.map { [$0] } ?? keys
        let skipped = try await lock.skipped(of: named, in: domain, of: defaults)
        guard skipped.count < named.count else { return try change.tell(false) }
        if let key {
            let isChanged = try await edits(of: key)
                .apply(to: defaults, comparing: change.changed)
            try await change.report(isChanged, on: defaults)
        } else {
            try await defaults.removeKeys(of: domain, except: skipped)
            try await change.finish(true, on: defaults)
        }
    }

    private func edits(of key: String) throws -> DomainEdits {
        var edits = DomainEdits(of: domain)
        edits.isDurable = change.wait
        // With --changed, a person asks for a state, which may already exist.
        let edit = Edit.removing(part.path, isLenient: change.changed)
        try edits.add(edit, of: key, ifStillAt: expectation.ifGeneration)
        return edits
    }
}

extension Delete: ArrangedVerb {
    static var optionsWithValue: Set<String> { ["--path", "--if-generation"] }
}

extension Delete: EditingCommand {
    func addEdits(to document: inout ChangeDocument) throws {
        guard let key else { throw ToolError.domainInDocument }
        try change.refuseInDocument()
        guard !lock.skipLocked else { throw ToolError.skippingInDocument }
        try document.add(
            .removing(part.path), of: key, in: domain, ifStillAt: expectation.ifGeneration)
    }
}

struct DeleteAll: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete-all",
        abstract: "Removes a domain or a key in all layers of the user.",
        discussion: "These are the domain itself and its layers for this and other hosts.")

    @Argument(help: "The domain, such as org.example.Game.")
    var domain: String

    @Argument(help: "The key; without it, the whole domain.")
    var key: String?

    @OptionGroup var change: ChangeOptions

    @OptionGroup var lock: LockOption

    @OptionGroup var host: HostOption

    func run(with defaults: RemoteDefaults) async throws {
        let name = domain.prefix { $0 != "@" }
        // The service reports domains that are invalid.
        let layers = [domain] + (try await defaults.domains().filter { $0 != domain })
        var found: [(layer: String, keys: [String])] = []
        for layer in layers where layer == domain || layer.hasPrefix("\(name)@") {
            let keys = try await defaults.keys(in: layer).filter { key == nil || $0 == key }
            if !keys.isEmpty { found.append((layer, keys)) }
        }
        guard !found.isEmpty else {
            if change.changed { return try change.tell(false) }
            if let key, try await lock.holds(key, in: domain, of: defaults) { return }
            throw if let key {
                ToolError.nothingDeleted(key, in: domain, meant: nil)
            } else {
                await defaults.nothingDeleted(nil, in: domain, of: [])
            }
        }
        let keys = Set(found.flatMap(\.keys)).sorted()
        let skipped = try await lock.skipped(of: keys, in: domain, of: defaults)
        // A key that is locked in one layer is locked in all of them. Then none is removed.
        if found.count > 1, !lock.skipLocked {
            try await defaults.checkLocks(of: keys, in: domain)
        }
        guard skipped.count < keys.count else { return try change.tell(false) }
        for (layer, keys) in found {
            try await defaults.removeKeys(
                of: layer, except: key == nil ? skipped : [], ofThese: key == nil ? nil : keys)
        }
        try await change.finish(true, on: defaults)
    }
}

extension DeleteAll: ArrangedVerb {}

extension RemoteDefaults {
    /// Removes keys of a domain: with one change, or several if one cannot name them all.
    ///
    /// - Parameters:
    ///   - kept: The keys that stay.
    ///   - keys: The keys to remove; nil for all.
    func removeKeys(
        of domain: String, except kept: Set<String>, ofThese keys: [String]? = nil
    ) async throws {
        guard !kept.isEmpty || keys != nil else { return _ = try await removeDomain(domain) }
        let all = if let keys { keys } else { try await self.keys(in: domain) }
        var rest = all.filter { !kept.contains($0) }[...]
        while !rest.isEmpty {
            var transaction = DefaultsTransaction()
            for key in rest.prefix(ContractLimits.maximumTransactionKeys) {
                transaction.remove(key)
            }
            try await apply(transaction, in: domain)
            rest = rest.dropFirst(ContractLimits.maximumTransactionKeys)
        }
    }

    /// The error for removing something that does not exist, with a suggestion.
    ///
    /// - Parameter keys: The keys that the domain has.
    fileprivate func nothingDeleted(
        _ key: String?, in domain: String, of keys: [String]
    ) async -> ToolError {
        guard let key, !keys.isEmpty else {
            return .nothingDeleted(domain, meant: await domainNear(domain))
        }
        return .nothingDeleted(key, in: domain, meant: Spelling.nearest(to: key, among: keys))
    }
}
