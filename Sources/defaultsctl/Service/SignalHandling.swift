@preconcurrency import Glibc

/// Signals that this program handles by itself.
enum SignalHandling {
    /// Has signals handled, but for those that this program was started to ignore, as by nohup(1) or
    /// in the background of a script.
    static func handle(_ numbers: [Int32], by handler: @escaping @convention(c) (Int32) -> Void) {
        for number in numbers where !isIgnored(number) { signal(number, handler) }
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        // Of C's functions only the addresses can be compared; this one is a number that is none.
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
