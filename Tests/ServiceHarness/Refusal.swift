import DefaultsProtocol

/// The error of the contract with which the service refuses a call; nil if it carries it out.
///
/// Another error is thrown.
func refusal<Reply>(of call: () async throws -> Reply) async throws -> ContractError? {
    do {
        _ = try await call()
        return nil
    } catch let error as ContractError {
        return error
    }
}
