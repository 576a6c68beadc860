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

    /// Takes a file for one of a place, by its name and by that of the directory that it is in.
    ///
    /// - Throws: ``LayerProblem`` with code `.badName` where no place would have it read.
    public init(path: String, in place: LayerPlace) throws(LayerProblem) {
        let names = path.split(separator: "/", omittingEmptySubsequences: true).map(String.init)
        guard let name = names.last, case .document(let stem) = FileName(name) else {
            throw .nameIsIgnored(path)
        }
        // A drop-in may have any name; its directory has that of the domain.
        if let parent = names.dropLast().last, case .dropIns(let stem) = FileName(parent),
            let domain = try? Domain(name: stem, layer: place.layer)
        {
            self.init(path: path, domain: domain)
            return
        }
        do throws(ModelError) {
            self.init(path: path, domain: try Domain(name: stem, layer: place.layer))
        } catch {
            throw .noDomain(path, error)
        }
    }
}
