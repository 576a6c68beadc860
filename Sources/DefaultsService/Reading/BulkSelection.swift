import DefaultsModel
import DefaultsStorage
import DefaultsTerms

/// Which entries are sent in bulk, and which are only named.
///
/// Those that are large by themselves, and all after so many bytes, are named: the caller gets them
/// one by one, if it wants them.
struct BulkSelection {
    /// The keys whose archives are sent, in their order.
    private(set) var sent: [Key] = []
    /// The keys that are only named, in their order.
    private(set) var large: [Key] = []

    /// Selects.
    ///
    /// - Parameter room: How many bytes may be sent; lowered by those that are, and nothing where
    ///   one did not fit, as that is where the first so many bytes end.
    init(of entries: [EntrySummary], room: inout Int) {
        for entry in entries {
            if entry.size > ContractLimits.maximumBulkEntrySize {
                large.append(entry.key)
            } else if entry.size > room {
                room = 0
                large.append(entry.key)
            } else {
                room -= entry.size
                sent.append(entry.key)
            }
        }
    }
}
