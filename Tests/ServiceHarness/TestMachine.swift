import DefaultsModel

@testable import DefaultsStorage

/// A machine that the home of the user is on for a while.
struct TestMachine: Sendable {
    /// The machine ID: 32 hexadecimal digits.
    let id: String
    /// The host name.
    let name: String

    /// What the database takes for the machine it runs on.
    var machine: Machine {
        guard let id = HostID(id) else { preconditionFailure("\(id) is not a machine ID.") }
        return Machine(id: id) { [name] in name }
    }
}
