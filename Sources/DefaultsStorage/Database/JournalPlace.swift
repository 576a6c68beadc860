/// Where a journal stands, with the page of counters beside it.
///
/// No place holds good in another boot, or on another host: the runtime directory is gone then.
struct JournalPlace: Equatable {
    let boot: UniqueID
    /// The directory's real path.
    let path: String
}
