/// The loop as the executor of actors, and of whole tasks.
///
/// From one actor of the loop to another a task goes on at once. One that was made with
/// `Task(executorPreference:)` takes a turn of the loop at each such step, and is for code that
/// belongs to no actor.
extension EventLoop: SerialExecutor, TaskExecutor {
    /// Takes a job from any thread.
    public func enqueue(_ job: UnownedJob) {
        handOver(.job(job))
    }

    /// The loop, for an actor's `unownedExecutor`.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    /// The loop, for a task's preference.
    public func asUnownedTaskExecutor() -> UnownedTaskExecutor {
        UnownedTaskExecutor(ordinary: self)
    }

    /// Lets `assumeIsolated` hold on the loop's thread outside of any task, as in a handler.
    public func checkIsolated() {
        preconditionOnLoop("an actor of the loop was assumed to be isolated")
    }

    /// Whether the calling code runs on the loop's thread.
    public func isIsolatingCurrentContext() -> Bool? {
        isCurrent
    }

    func run(_ job: UnownedJob) {
        // As the serial executor only: were the task executor named as well, every step between two
        // actors of the loop would look like a change of executors, and take a turn of the loop.
        job.runSynchronously(on: asUnownedSerialExecutor())
    }

    func preconditionOnLoop(_ action: @autoclosure () -> String) {
        precondition(isCurrent, "Off the event loop's thread, \(action()).")
    }
}
