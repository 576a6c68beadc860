import DBus
import DefaultsProtocol

/// The calls that most tests make, in short.
extension TestCaller {
    /// Sets a value.
    ///
    /// - Returns: The generation.
    @discardableResult
    func set(_ domain: String, _ key: String, _ value: Value) async throws -> UInt64 {
        try await call(Contract.SetValue.self, (domain: domain, key: key, value: value))
    }

    /// Sets a value by a call that is answered when it is on disk.
    func setDurably(
        _ domain: String, _ key: String, _ value: Value
    ) async throws -> Pending<UInt64> {
        try await send(
            Contract.ApplyValues.self,
            TransactionArguments(
                domain: domain, set: [(key, value)], options: .init(isDurable: true)))
    }

    /// Reads a value with its generation.
    func get(_ domain: String, _ key: String) async throws -> Contract.GetValue.Reply {
        try await call(Contract.GetValue.self, (domain: domain, key: key))
    }

    /// Follows a domain: from now on its changes come with their values.
    func follow(_ domain: String) async throws {
        try await call(Contract.Follow.self, [domain])
    }

    /// A number of the service's statistics.
    func statistic(_ fact: Contract.GetStatistics.Fact) async throws -> UInt64 {
        switch try await call(Contract.GetStatistics.self, ())[fact] {
        case .uint64(let number): number
        case .uint32(let number): UInt64(number)
        default: throw DBusError(.invalidSignature, "There is no number \(fact).")
        }
    }

    /// The sentence of the property StorageError.
    func storageError() async throws -> String {
        try await call(Contract.GetProperties.self, ()).string(Contract.storageError)
    }
}
