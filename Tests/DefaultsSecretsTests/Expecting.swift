import DefaultsSecrets
import Testing

/// Expects an error of a kind.
@discardableResult
func expect(
    _ code: SecretsError.Code, sourceLocation: SourceLocation = #_sourceLocation,
    from body: () async throws -> Void
) async -> SecretsError? {
    let error = await #expect(throws: SecretsError.self, sourceLocation: sourceLocation) {
        try await body()
    }
    #expect(error?.code == code, "\(error as Any)", sourceLocation: sourceLocation)
    return error
}
