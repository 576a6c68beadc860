package import class DBus.EventLoop

/// One timer: it is set once, and can be set again when it has fired or was stopped.
package final class Alarm {
    private let loop: EventLoop
    private var timer: EventLoop.Timer?

    package init(on loop: EventLoop) {
        self.loop = loop
    }

    /// Sets it, unless it is set.
    ///
    /// - Parameter action: Called on the loop's thread.
    package func set(after delay: Duration, _ action: @escaping () -> Void) {
        guard timer == nil else { return }
        timer = loop.schedule(after: delay) {
            self.timer = nil
            action()
        }
    }

    /// Stops it, if it is set.
    package func stop() {
        timer?.cancel()
        timer = nil
    }
}
