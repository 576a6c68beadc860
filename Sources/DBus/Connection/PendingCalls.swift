/// The calls that wait for a reply.
///
/// A reply refers to its call by the serial number of the message; a timeout and a cancellation do
/// by a number of ours, which is there before the message is sent.
struct PendingCalls {
    /// What ends a call.
    ///
    /// Whoever takes a call out of the table calls one of the two, once, and when the table is not
    /// being changed any more: they lead to code of the program, which may come back here.
    struct Waiting {
        let number: UInt64
        let timer: EventLoop.Timer?
        let succeed: (borrowing Message) -> Void
        let fail: (any Error) -> Void

        /// Ends the call with the reply or the error that came for it.
        func end(with message: borrowing Message) {
            if message.kind == .error {
                fail(message.error)
            } else {
                succeed(message)
            }
        }
    }

    private var waiting: [UInt32: Waiting] = [:]
    private var serials: [UInt64: UInt32] = [:]
    private var lastNumber: UInt64 = 0

    var isEmpty: Bool { waiting.isEmpty }

    /// A number for the next call.
    mutating func makeNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    mutating func add(_ call: Waiting, serial: UInt32) {
        waiting[serial] = call
        serials[call.number] = serial
    }

    /// Takes out the call that a reply refers to; nil where nobody waits for it any more.
    mutating func take(serial: UInt32) -> Waiting? {
        guard let call = waiting.removeValue(forKey: serial) else { return nil }
        serials[call.number] = nil
        call.timer?.cancel()
        return call
    }

    /// Takes out a call of ours; nil where it does not wait any more.
    mutating func take(number: UInt64) -> Waiting? {
        serials[number].flatMap { take(serial: $0) }
    }

    /// Takes out every call.
    mutating func takeAll() -> [Waiting] {
        waiting.keys.compactMap { take(serial: $0) }
    }
}
