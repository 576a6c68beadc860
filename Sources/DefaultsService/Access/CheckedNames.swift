import DefaultsModel
import DefaultsProtocol

/// The names in calls, as the service takes them: checked when they are read.
struct CheckedNames: TransactionNames {
    /// The machines that suffixes may name.
    let hosts: HostNames

    func domain(_ text: String) throws -> Domain { try Domain(text, on: hosts) }

    func key(_ text: String) throws -> Key { try Key(text) }

    func expectation(_ key: String, _ generation: UInt64) throws -> Expectation {
        try Expectation(key, generation)
    }

    func token(_ text: String) throws -> Token { try Token(text) }
}

/// The names in calls for applications: no suffix picks a layer.
struct ApplicationNames: NameReading {
    func domain(_ text: String) throws -> Domain { try Domain(ofApplication: text) }

    func key(_ text: String) throws -> Key { try Key(text) }
}
