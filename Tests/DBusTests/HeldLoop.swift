@testable import DBus

/// A loop with a held clock, on a thread that ends with this.
final class HeldLoop: Sendable {
    let loop: EventLoop

    init(isInOwnProcess: Bool = false) throws {
        loop = try EventLoop.startThread(
            named: "held", isInOwnProcess: isInOwnProcess, clock: .held)
    }

    deinit {
        loop.stop()
    }

    /// Runs a closure on the loop's thread.
    func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await loop.run(body)
    }
}

extension EventLoop {
    /// Runs a closure on the loop's thread.
    func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            perform { continuation.resume(returning: body()) }
        }
    }
}
