/// Bringing what earlier versions of an application have left up to date.
extension Defaults {
    /// Runs the steps that the domain has not been through, each once among all processes.
    ///
    /// An application calls it when it starts, before it reads anything else, with all steps there
    /// have ever been. The domain's version is the integer `DefaultsVersion` among its own keys, and 0
    /// where that is absent; so a user's first start runs all steps too, which then find nothing set.
    ///
    /// A step and its version are one change: all of it is stored or nothing. Where another process
    /// changes the domain while a step runs, the step is run again with what that has left, if it is
    /// not done by then. A program that is ended between two steps goes on with the second one at its
    /// next start.
    ///
    /// - Parameter steps: All steps, in the order of their versions.
    /// - Returns: The domain's version now.
    /// - Throws: ``ClientError`` with `newerVersion` where a later version of the application has been
    ///   here: nothing was changed, and what the domain has may mean other things; with `unreachable`
    ///   where there is no service to ask, with `conflict` where others came in between a hundred
    ///   times. The refusals of ``commit(in:_:)``, a key that is locked for one; and what a step throws,
    ///   or could not read. The steps before that one stay done.
    @discardableResult
    public func migrate(_ steps: [DefaultsMigration]) async throws -> Int {
        precondition(
            zip(steps, steps.dropFirst()).allSatisfy { $0.version < $1.version },
            "The steps of a migration are in the order of their versions.")
        return try await store.migrate(steps)
    }
}

extension DefaultsKeys {
    static let defaultsVersion = DefaultsKey("DefaultsVersion", default: 0)
}
