import DBus

/// One timer: it is set once, and can be set again when it has fired or was stopped.
final class Alarm {
    private let loop: EventLoop
    private var timer: EventLoop.Timer?

    init(on loop: EventLoop) {
        self.loop = loop
    }

    /// Sets it, unless it is set.
    ///
    /// - Parameter action: Called on the loop's thread.
    func set(after delay: Duration, _ action: @escaping () -> Void) {
        guard timer == nil else { return }
        timer = loop.schedule(after: delay) {
            self.timer = nil
            action()
        }
    }

    /// Stops it, if it is set.
    func stop() {
        timer?.cancel()
        timer = nil
    }
}
