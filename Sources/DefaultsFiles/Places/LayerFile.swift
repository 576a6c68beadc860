public import DefaultsModel

/// A file that belongs to a domain's layer, found and not read.
public struct LayerFile: Hashable, Sendable {
    /// Where it is.
    public let path: String
    /// The domain with the layer, `.managed` or `.system`.
    public let domain: Domain

    /// Names a file.
    ///
    /// - Parameter domain: The domain that it is for, with its layer.
    public init(path: String, domain: Domain) {
        self.path = path
        self.domain = domain
    }
}
