@testable import DefaultsSecrets

/// A keyring that does what a test says, when it says so.
actor ScriptedVault: SecretVault {
    /// What it was asked, in its order: `store Token 3 bytes`, `read Token`.
    nonisolated let questions: AsyncStream<String>
    private let report: AsyncStream<String>.Continuation
    private var waiting: [(number: Int, CheckedContinuation<StoredSecret?, any Error>)] = []
    private var lastNumber = 0

    init() {
        (questions, report) = AsyncStream.makeStream(of: String.self)
    }

    /// Answers the oldest question.
    func answer(_ result: Result<StoredSecret?, any Error> = .success(nil)) {
        waiting.removeFirst().1.resume(with: result)
    }

    func answer(text: String) {
        answer(.success(StoredSecret(bytes: Array(text.utf8), contentType: "text/plain")))
    }

    func refuse() { answer(.failure(KeyringProblem.dismissed)) }

    func read(_ name: SecretName) async throws -> StoredSecret? {
        try await ask("read \(name.key)")
    }

    func contains(_ name: SecretName) async throws -> Bool {
        try await ask("contains \(name.key)") != nil
    }

    func store(_ secret: StoredSecret, as name: SecretName) async throws {
        _ = try await ask("store \(name.key) '\(String(decoding: secret.bytes, as: UTF8.self))'")
    }

    func remove(_ name: SecretName) async throws { _ = try await ask("remove \(name.key)") }

    func unlock() async throws { _ = try await ask("unlock") }

    func isLocked() async throws -> Bool { try await ask("isLocked") != nil }

    private func ask(_ question: String) async throws -> StoredSecret? {
        lastNumber += 1
        let number = lastNumber
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                waiting.append((number, continuation))
                report.yield(question)
            }
        } onCancel: {
            Task { await self.breakOff(number) }
        }
    }

    private func breakOff(_ number: Int) {
        guard let index = waiting.firstIndex(where: { $0.number == number }) else { return }
        report.yield("broken off")
        waiting.remove(at: index).1.resume(throwing: CancellationError())
    }
}

/// A store before such a keyring, with what it asks.
struct Scripted {
    let vault = ScriptedVault()
    let secrets: Secrets
    private var iterator: AsyncStream<String>.Iterator

    init() {
        secrets = Secrets(store: SecretStore(domain: "org.example.Game", vault: vault))
        iterator = vault.questions.makeAsyncIterator()
    }

    /// Waits for the next question to the keyring.
    mutating func question() async -> String? { await iterator.next() }
}
