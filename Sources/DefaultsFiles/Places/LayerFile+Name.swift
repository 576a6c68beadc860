internal import DefaultsModel
internal import DefaultsTerms

extension LayerFile {
    /// What is suspicious about the domain's name; nil for nearly all.
    public var nameRemark: LayerProblem? {
        let global = GlobalDomain.name
        guard domain.name != global, domain.name.lowercased() == global.lowercased() else {
            return nil
        }
        return .likeGlobalDomain(path, domain.name)
    }
}
