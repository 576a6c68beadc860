/// The loop as the executor of actors and, with `Task(executorPreference:)`, of whole tasks.
extension EventLoop: SerialExecutor, TaskExecutor {
    public func enqueue(_ job: UnownedJob) {
        handOver(.job(job))
    }

    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    public func asUnownedTaskExecutor() -> UnownedTaskExecutor {
        UnownedTaskExecutor(ordinary: self)
    }

    /// Lets `assumeIsolated` hold on the loop's thread outside of any task, as in a handler.
    public func checkIsolated() {
        preconditionOnLoop("an actor of the loop was assumed to be isolated")
    }

    public func isIsolatingCurrentContext() -> Bool? {
        isCurrent
    }

    func run(_ job: UnownedJob) {
        job.runSynchronously(
            isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    }

    func preconditionOnLoop(_ action: @autoclosure () -> String) {
        precondition(isCurrent, "Off the event loop's thread, \(action()).")
    }
}
