extension DomainCopy {
    /// Tells all stores of a failure; under the lock.
    func tell(_ failure: DefaultsFailure, _ lock: Guard) {
        for store in liveStores { lock.whenFree { store.failures.tell(failure) } }
    }
}
