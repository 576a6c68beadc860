import CLinux
import Glibc

/// A loop on a thread of its own.
extension EventLoop {
    /// Starts a thread that runs a loop until ``stop()`` is called.
    ///
    /// No signal of the system is delivered to the thread: they are the program's.
    ///
    /// ```swift
    /// let loop = try EventLoop.startThread(named: "dbus")
    /// let connection = try await Connection.open(.session, on: loop)
    /// ```
    ///
    /// - Parameter name: The thread's name in tools such as `top`; the first 15 bytes of it.
    /// - Throws: ``DBusError`` where the process has no descriptor or thread to spare.
    public static func startThread(named name: String) throws(DBusError) -> EventLoop {
        // No thread is number 0, so that nobody is current before the new one runs.
        let loop = try EventLoop(ownedBy: 0)
        let start = ThreadStart(
            loop: loop, name: String(decoding: name.utf8.prefix(15), as: UTF8.self))
        // The new thread takes this reference over; where it does not come to be, it is ours again.
        let reference = Unmanaged.passRetained(start)
        var thread = pthread_t()
        // A thread inherits the mask, so that there is no moment in which it has another.
        var (all, before) = (sigset_t(), sigset_t())
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        let code = pthread_create(&thread, nil, { runThread($0) }, reference.toOpaque())
        pthread_sigmask(SIG_SETMASK, &before, nil)
        guard code == 0 else {
            reference.release()
            throw .systemCall("Starting a thread", error: code)
        }
        pthread_detach(thread)
        return loop
    }
}

/// What a new thread needs to know.
private final class ThreadStart {
    let loop: EventLoop
    let name: String

    init(loop: EventLoop, name: String) {
        self.loop = loop
        self.name = name
    }
}

private func runThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    let start = Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue()
    clinux_name_this_thread(start.name)
    start.loop.run()
    return nil
}
