import DBus
import DefaultsClient

/// The state on the bus: names with values.
extension RoamStatus {
    var values: Value {
        let facts: [(name: String, value: Value)] = [
            ("State", .string(state.rawValue)), ("Place", .string(place)),
            ("Replica", .string(replica)), ("Problem", .string(problem)),
            ("LastRound", .uint64(lastRound)), ("Same", .uint64(same)),
            ("Waiting", .uint64(waiting)), ("Pushed", .uint64(pushed)), ("Stored", .uint64(stored)),
            ("Obstacles", Self.dictionary(obstacles.map { ($0, .string($1)) }, of: "s")),
            ("Unusable", .array(of: "s", unusable.map { .string($0) })),
        ]
        return Self.dictionary(facts.map { ($0.name, .variant($0.value)) }, of: "v")
    }

    private static func dictionary(_ entries: [(String, Value)], of type: Signature) -> Value {
        .dictionary(
            key: "s", value: type,
            entries.map { Value.Entry(.string($0.0), $0.1) })
    }
}
