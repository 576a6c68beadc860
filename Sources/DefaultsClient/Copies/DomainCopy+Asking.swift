import DefaultsTerms

/// Asking the service.
extension DomainCopy {
    /// Whether it is enough to ask for what has changed, or all has to be read: at first, and where the
    /// administrator may have locked something.
    var canCatchUp: Bool { isLoaded && foreign[.managed] == nil }

    /// The layers in which others may have changed something.
    var changedLayers: [LayerName] {
        LayerName.allCases.filter { $0 == .domain || foreign[$0] != nil }
    }

    /// Ends a question, and lets those go on who waited for its answer.
    ///
    /// - Parameter isRead: Whether the layers are as new as the question.
    /// - Returns: Whether to ask again: somebody came later, or wants to be told of every change.
    func endAsking(isRead: Bool, _ lock: Guard) -> Bool {
        questions.end()
        guard isRead else { return true }
        if isCurrent {
            questions.answerAll(lock)
            return false
        }
        questions.answer(lock)
        return questions.isAwaited || isObserved
    }

    /// Lets all go on who wait, if it is current by now.
    func endWaitsIfCurrent(_ lock: Guard) -> Bool {
        guard isCurrent else { return false }
        questions.answerAll(lock)
        return true
    }

    /// Notes that it cannot be read from this service.
    func refuseReading(_ lock: Guard) {
        isRefused = true
        questions.answerAll(lock)
    }

    /// Notes that nothing is on its way any more.
    func forgetCalls() {
        questions.end()
        outbox.batches.first?.isOnItsWay = false
    }
}
