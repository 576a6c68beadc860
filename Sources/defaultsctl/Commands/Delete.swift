import ArgumentParser
import DefaultsClient
import DefaultsProtocol
import KeyedArchive

struct Delete: ServiceCommand {
    static let configuration = CommandConfiguration(
        abstract: "Removes a domain, a key, or a part of its value.")

    @Argument(help: "The domain, such as org.example.Game.")
    var domain: String

    @Argument(help: "The key; without it, the whole domain.")
    var key: String?

    @OptionGroup var part: PathOption

    @OptionGroup var change: ChangeOptions

    @OptionGroup var host: HostOption

    func validate() throws {
        guard key == nil else { return }
        if part.path != nil {
            throw ValidationError("--path leads into the value of a key; name the key.")
        }
        if change.ifGeneration != nil {
            throw ValidationError("--if-generation is of a key; name the key.")
        }
    }

    func run(with defaults: RemoteDefaults) async throws {
        let keys = try await defaults.keys(in: domain)
        // The service counts the removal of nothing as done; a person who mistyped wants to know.
        guard key.map(keys.contains) ?? !keys.isEmpty else {
            throw ToolError.nothingDeleted(domain)
        }
        if let key {
            try await edits(of: key).apply(to: defaults)
        } else {
            try await defaults.removeDomain(domain)
            if change.wait { try await defaults.synchronize() }
        }
    }

    private func edits(of key: String) throws -> DomainEdits {
        var edits = DomainEdits(of: domain)
        edits.isDurable = change.wait
        try edits.add(.removing(part.path), of: key, ifStillAt: change.ifGeneration)
        return edits
    }
}

extension Delete: EditingCommand {
    func addEdits(to document: inout ChangeDocument) throws {
        guard let key else { throw ToolError.domainInDocument }
        guard !change.wait else { throw ToolError.waitInDocument }
        try document.add(.removing(part.path), of: key, in: domain, ifStillAt: change.ifGeneration)
    }
}

struct DeleteAll: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete-all",
        abstract: "Removes a domain or a key in all layers that are the user's.",
        discussion: "These are the domain itself and its layers for this and other hosts.")

    @Argument(help: "The domain, such as org.example.Game.")
    var domain: String

    @Argument(help: "The key; without it, the whole domain.")
    var key: String?

    @OptionGroup var host: HostOption

    func run(with defaults: RemoteDefaults) async throws {
        var isDeleted = false
        let name = domain.prefix { $0 != "@" }
        // The service says what is wrong with a name that no domain can have.
        let layers = [domain] + (try await defaults.domains().filter { $0 != domain })
        let own = layers.filter { $0 == domain || $0.hasPrefix("\(name)@") }
        if own.count > 1 {
            // What is locked in one is so in all, and then none is removed.
            var keys: Set<String> = []
            for layer in own { keys.formUnion(try await defaults.keys(in: layer)) }
            if let key { keys.formIntersection([key]) }
            try await defaults.checkLocks(of: keys.sorted(), in: domain)
        }
        for layer in own {
            if try await defaults.delete(key, in: layer) { isDeleted = true }
        }
        guard isDeleted else { throw ToolError.nothingDeleted(domain) }
    }
}

extension RemoteDefaults {
    /// Removes a key or a whole domain, and says whether it was there: the service counts the removal
    /// of nothing as done; a person who mistyped wants to know.
    fileprivate func delete(_ key: String?, in domain: String) async throws -> Bool {
        let keys = try await keys(in: domain)
        guard let key else {
            guard !keys.isEmpty else { return false }
            try await removeDomain(domain)
            return true
        }
        guard keys.contains(key) else { return false }
        try await remove(key, in: domain)
        return true
    }
}
