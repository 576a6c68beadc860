import DefaultsRoaming
import SQLite

extension EditTime {
    var value: SQLValue {
        switch self {
        case .unknown: .null
        case .known(let time): .integer(time)
        }
    }
}

extension ReplicaID {
    var value: SQLValue { .text(description) }
}

extension RoamingKey {
    var values: [SQLValue] { [.text(domain), .text(name)] }
}

extension Head {
    /// The columns `replica, counter, time, archive`.
    var values: [SQLValue] {
        [dot.replica.value, .integer(dot.counter), time.value, .blob(archive)]
    }
}

extension Statement {
    func replica(at column: Int32) -> ReplicaID {
        // Only this engine writes its tables.
        text(at: column).flatMap { ReplicaID($0) } ?? ReplicaID.none
    }

    func time(at column: Int32) -> EditTime {
        isNull(at: column) ? .unknown : .known(integer(at: column))
    }

    func key(at column: Int32) -> RoamingKey {
        RoamingKey(domain: text(at: column) ?? "", name: text(at: column + 1) ?? "")
    }

    /// The columns `replica, counter, time, archive`.
    func head(at column: Int32) -> Head {
        Head(
            Dot(replica(at: column), integer(at: column + 1)), time: time(at: column + 2),
            archive: blob(at: column + 3))
    }
}

extension ReplicaID {
    /// The name of no replica.
    static let none = ReplicaID("00000000-0000-0000-0000-000000000000") ?? .random()
}
