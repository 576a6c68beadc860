internal import Glibc
internal import Synchronization

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
    /// It is owned here and stands on the heap as it must not move.
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
