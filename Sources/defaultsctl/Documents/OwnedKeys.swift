import DefaultsClient
import DefaultsTerms
import OwnedDocuments

/// The keys that documents own, by the names of the rows.
struct OwnedKeys {
    /// The owners in the order of their names, and the keys of each in theirs.
    let byOwner: [(owner: Owner, places: [KeyPlace])]

    init(of defaults: RemoteDefaults) async throws {
        let names = try await defaults.keys(in: AppliedTerms.domain)
        let owners = try await OwnedState.owners(of: names, in: defaults)
        byOwner = Dictionary(grouping: owners, by: \.owner)
            .sorted { $0.key.name < $1.key.name }
            .map { ($0.key, $0.value.map(\.place).sorted()) }
    }

    /// The owners of one key.
    func owners(of place: KeyPlace) -> [Owner] {
        byOwner.filter { $0.places.contains(place) }.map(\.owner)
    }
}
