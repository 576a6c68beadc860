import DBus

/// The one thread of the tool: its commands run where its connections are, so that a call wakes no
/// other thread, and the tool has begun before threads could have.
enum MainThread {
    /// The loop of the thread, which a command's connections are to use.
    @TaskLocal static var loop: EventLoop?

    /// Runs the program, which ends the process.
    static func run(_ program: @escaping @Sendable () async -> Never) throws {
        let loop = try EventLoop()
        $loop.withValue(loop) {
            _ = Task(executorPreference: loop) { await program() }
        }
        loop.run()
    }
}
