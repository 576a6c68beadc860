internal import DefaultsModel

extension LayerFile {
    /// What is suspicious about the domain's name; nil for nearly all.
    public var nameRemark: LayerProblem? {
        let global = Domain.globalName
        guard domain.name != global, domain.name.lowercased() == global.lowercased() else {
            return nil
        }
        return .likeGlobalDomain(path, domain.name)
    }
}
