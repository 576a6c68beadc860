import CLinux
import Dispatch
import Glibc
import Synchronization

// Invariant: the thread that runs the tasks needs no descriptor.

/// Tasks of the libraries for other languages.
///
/// They run on a thread of this library. Swift's own threads use descriptors of libdispatch, which ends a program
/// that closes all descriptors, or reads from the files that get their numbers.
package enum LibraryTask {
    /// Nil if the process can have no further thread.
    private static let thread = TaskThread.start()

    /// Begins a task.
    @discardableResult
    package static func begin(
        _ operation: sending @escaping @isolated(any) () async -> Void
    ) -> Task<Void, Never> {
        guard let thread else { return Task(operation: operation) }
        return Task(executorPreference: thread, operation: operation)
    }
}

/// A thread that runs tasks, one job after the other.
private final class TaskThread: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])
    private let waiting = DispatchSemaphore(value: 0)

    private init() {}

    /// - Returns: Nil if there can be no further thread.
    static func start() -> TaskThread? {
        let executor = TaskThread()
        let reference = Unmanaged.passRetained(executor)
        var thread = pthread_t()
        // The signals of the system are the program's.
        var (all, before) = (sigset_t(), sigset_t())
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        let code = pthread_create(&thread, nil, { runTasks($0) }, reference.toOpaque())
        pthread_sigmask(SIG_SETMASK, &before, nil)
        guard code == 0 else {
            reference.release()
            return nil
        }
        pthread_detach(thread)
        return executor
    }

    func enqueue(_ job: UnownedJob) {
        jobs.withLock { $0.append(job) }
        waiting.signal()
    }

    func run() -> Never {
        while true {
            waiting.wait()
            let job = jobs.withLock { $0.removeFirst() }
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}

private func runTasks(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    clinux_name_this_thread("defaults-tasks")
    Unmanaged<TaskThread>.fromOpaque(argument).takeRetainedValue().run()
}
