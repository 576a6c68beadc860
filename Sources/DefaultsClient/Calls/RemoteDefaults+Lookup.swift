import DefaultsProtocol
public import KeyedArchive

/// What one layer says of a key.
public struct LayerEntry: Sendable, Hashable {
    /// The layer.
    public let layer: DefaultsLayer
    /// The file that it is from; empty where it is the user's own.
    public let source: String
    /// Whether the layer has the key locked.
    public let isLocked: Bool
    /// The size of the archive in bytes; 0 where the layer locks the key and has no value.
    public let size: UInt64

    /// Whether the layer has a value.
    public var hasValue: Bool { size > 0 }
}

/// What holds for an application, by the search list of layers.
extension RemoteDefaults {
    /// The archive that holds for a key, and the layer that has it.
    ///
    /// ```swift
    /// let (archive, layer) = try await defaults.lookUp("Theme", in: "org.example.App")
    /// if layer == .managed { show(archive) }
    /// ```
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - domain: A domain, without a suffix.
    /// - Throws: An error of the code ``ClientError/Code/notFound`` if no layer has the key.
    public func lookUp(
        _ key: String, in domain: String
    ) async throws -> (archive: KeyedArchive, layer: DefaultsLayer) {
        let (bytes, layer) = try await call(Contract.Lookup.self, (domain, key))
        return (try KeyedArchive(validating: bytes), DefaultsLayer(rawValue: layer))
    }

    /// Whether the administrator has locked a key, so that every write to it is refused.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - domain: A domain, without a suffix.
    public func isLocked(_ key: String, in domain: String) async throws -> Bool {
        try await call(Contract.IsLocked.self, (domain, key))
    }

    /// Every layer that has a key or locks it, the strongest first.
    ///
    /// The value that holds is that of the first that has one. A layer's value is had by
    /// ``archive(forKey:in:)`` of ``DefaultsLayer/domain(of:)``.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - domain: A domain, without a suffix.
    public func explain(_ key: String, in domain: String) async throws -> [LayerEntry] {
        try await call(Contract.Explain.self, (domain, key)).map {
            LayerEntry(
                layer: DefaultsLayer(rawValue: $0.layer), source: $0.source,
                isLocked: $0.isLocked, size: $0.size)
        }
    }

    /// All that holds for an application: each key of its search list, with the value of the strongest
    /// layer that has it.
    ///
    /// The layers are read one after the other; what changes meanwhile is as it was, or as it is then.
    ///
    /// - Parameter domain: A domain, without a suffix.
    /// - Returns: The entries in the order of their keys, by code point.
    public func effectiveEntries(in domain: String) async throws -> [DefaultsEntry] {
        var effective: [String: DefaultsEntry] = [:]
        for layer in layers(of: domain) {
            for entry in try await entries(in: layer).entries where effective[entry.key] == nil {
                effective[entry.key] = entry
            }
        }
        return effective.values.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }

    /// The keys of ``effectiveEntries(in:)``.
    ///
    /// - Parameter domain: A domain, without a suffix.
    public func effectiveKeys(in domain: String) async throws -> [String] {
        var keys: Set<String> = []
        for layer in layers(of: domain) { keys.formUnion(try await self.keys(in: layer)) }
        return keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// The domains of the search list, the strongest first.
    private func layers(of domain: String) -> [String] {
        DefaultsLayer.searchList(of: domain).compactMap { $0.domain(of: domain) }
    }
}
