internal import DefaultsModel

/// What the store tells of a key without its value.
struct StoredEntry {
    let key: Key
    let generation: Generation
    /// The size of the archive in bytes; nil for a removal.
    let size: Int?
}

/// What the store knows of the changes of a domain.
struct StoredRecord {
    /// The domain's last change; nil where it never had one.
    let lastChange: Generation?
    /// The generation up to which removals are forgotten; nil where none is.
    let horizon: Generation?
}
