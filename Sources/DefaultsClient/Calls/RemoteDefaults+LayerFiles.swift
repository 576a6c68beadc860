import DefaultsProtocol

/// A file of the administrator or the vendor, as the daemon has read it.
public struct RemoteLayerFile: Sendable, Hashable {
    /// ``DefaultsLayer/managed`` or ``DefaultsLayer/system``.
    public let layer: DefaultsLayer
    /// The domain that it is for, without a suffix; empty where its name is that of none.
    public let domain: String
    /// Where it is.
    public let path: String
    /// What is wrong with it; nil where it is good.
    public let problem: String?

    /// The domain with the suffix of the layer, as calls take it; nil where it is for none.
    public var domainWithLayer: String? { domain.isEmpty ? nil : layer.domain(of: domain) }
}

/// What an administrator has locked.
public struct RemoteLock: Sendable, Hashable {
    /// A key; or the beginning of keys, and `*`.
    public let pattern: String
    /// The file that locks it.
    public let file: String
}

/// Files of layers, by the interface that is for the project's own tool.
extension RemoteDefaults {
    /// The files of the layers `managed` and `system`, the weakest first within a domain's layer.
    public func layerFiles() async throws -> [RemoteLayerFile] {
        try await call(Contract.ListLayerFiles.self, ()).map {
            RemoteLayerFile(
                layer: DefaultsLayer(rawValue: $0.layer), domain: $0.domain, path: $0.path,
                problem: $0.problem.isEmpty ? nil : $0.problem)
        }
    }

    /// What is locked in a domain: by its own files first, then by those of NSGlobalDomain.
    ///
    /// - Parameter domain: A domain, without a suffix.
    public func locks(of domain: String) async throws -> [RemoteLock] {
        try await call(Contract.ListLocks.self, domain).map {
            RemoteLock(pattern: $0.pattern, file: $0.path)
        }
    }
}
