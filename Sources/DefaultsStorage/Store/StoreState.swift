internal import DefaultsModel

/// What the store knows of itself.
struct StoreState: Equatable {
    /// Which database it is; copies and backups have the same.
    let uuid: UniqueID
    /// The last change that is in it, with all before it.
    let generation: Generation
    /// The number above which none was given while this was the store.
    let ceiling: Generation
    /// From where on the record of changes is whole: the numbers have not jumped since.
    let recordStart: Generation
}
