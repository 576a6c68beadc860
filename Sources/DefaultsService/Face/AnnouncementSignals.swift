import DefaultsCore
import DefaultsModel
import DefaultsProtocol
import DefaultsTerms

/// The signals of an announcement.
extension Announcement {
    /// The signal for the bus.
    var signal: ChangedSignal {
        ChangedSignal(
            domain: domain.name, layer: domain.layer.name.rawValue, changed: changed.map(\.name),
            removed: removed.map(\.name), generation: generation.rawValue, origin: origin)
    }

    /// The signal for those who follow the domain.
    var signalWithValues: ChangedValuesSignal {
        // What files lock may change with their values.
        let areSent = domain.layer.isWritable && changed.count == set.count
        let archives = areSent ? set.map { ($0.key.name, $0.archive) } : nil
        return ChangedValuesSignal(signal, archives: archives)
    }
}
