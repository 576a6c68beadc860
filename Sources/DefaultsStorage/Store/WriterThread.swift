internal import Glibc
internal import Synchronization
internal import SystemCalls

/// A thread that runs the writer's jobs one after the other and makes no system call between
/// them: it sleeps in the kernel until the next one.
///
/// It ends when the executor goes away.
final class WriterThread: SerialExecutor {
    private let inbox = WriterInbox()

    init() throws(SystemError) {
        // Signals are for the thread that is made to handle them: the new one inherits this mask.
        var all = sigset_t()
        var previous = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &previous)
        defer { pthread_sigmask(SIG_SETMASK, &previous, nil) }
        // The thread owns this reference and gives it back when it ends.
        let argument = Unmanaged.passRetained(inbox)
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { argument in
                argument.map { WriterThread.run(Unmanaged.fromOpaque($0).takeRetainedValue()) }
                return nil
            }, argument.toOpaque())
        guard code == 0 else {
            argument.release()
            throw SystemError(call: "pthread_create", path: "writer", number: code)
        }
        // Nobody waits for its end, which may be told by a job on the thread itself.
        pthread_detach(thread)
    }

    deinit {
        inbox.put(.end)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        // The message keeps the executor alive until the job has returned, even if the job
        // lets go of the actor.
        inbox.put(.run(UnownedJob(job), on: self))
    }

    /// Lets a task of this thread go on when the jobs are done that wait by now.
    ///
    /// `Task.yield()` would start the threads of Swift's own pool for that.
    func resumeInTurn(_ continuation: UnsafeContinuation<Void, Never>) {
        inbox.put(.resume(continuation))
    }

    private static func run(_ inbox: WriterInbox) {
        while true {
            switch inbox.take() {
            case .run(let job, let executor):
                job.runSynchronously(on: executor.asUnownedSerialExecutor())
            case .resume(let continuation): continuation.resume()
            case .end: return
            }
        }
    }
}

/// The jobs that wait for the writer's thread, in order.
///
/// `@unchecked Sendable` because of the semaphore's address, which is only ever given to calls
/// that are made for use by several threads; the messages are behind a mutex.
final class WriterInbox: @unchecked Sendable {
    /// What the thread is to do.
    enum Message: Sendable {
        case run(UnownedJob, on: WriterThread)
        case resume(UnsafeContinuation<Void, Never>)
        case end
    }

    private let messages = Mutex<[Message]>([])
    /// Counts the messages.
    ///
    /// It is owned here and is on the heap because it must not move.
    private let count: UnsafeMutablePointer<sem_t>

    init() {
        count = .allocate(capacity: 1)
        let code = sem_init(count, 0, 0)
        precondition(code == 0, "a semaphore that begins at 0 can always be made")
    }

    deinit {
        sem_destroy(count)
        count.deallocate()
    }

    /// Adds a message and wakes the thread.
    func put(_ message: Message) {
        messages.withLock { $0.append(message) }
        sem_post(count)
    }

    /// Waits for the next message.
    func take() -> Message {
        while sem_wait(count) != 0 {
            precondition(errno == EINTR, "waiting for a semaphore fails only by a signal")
        }
        return messages.withLock { $0.removeFirst() }
    }
}
