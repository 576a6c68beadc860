/// Programs in the process of a test.
extension Stage {
    /// Runs code of a program on the loop, and does everything that can be done without the clock.
    ///
    /// As all of the program runs on the loop, too, the loop knows when it has nothing left to do.
    ///
    /// - Parameter program: The name of the program, for ``StillWaiting``.
    /// - Returns: The outcome, which may need time, or the disk.
    func run<Outcome: Sendable>(
        _ program: String, _ body: @escaping @Sendable () async throws -> Outcome
    ) async throws -> Pending<Outcome> {
        guard !hasEnded else { throw ServiceHasEnded() }
        let number = noteCall(of: program)
        let pending = Pending<Outcome>(program)
        _ = Task(executorPreference: loop) {
            do {
                pending.end(with: .success(try await body()))
            } catch {
                pending.end(with: .failure(error))
            }
            self.noteAnswer(to: number)
        }
        await settle()
        return pending
    }
}
