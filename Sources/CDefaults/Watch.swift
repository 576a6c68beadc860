import DefaultsClient
import Synchronization

// Invariants
//
// 1. The free function is called once: when the watch has ended and its callback does not run.
// 2. After the end, the callback does not begin any more.

/// A function of the program that is called after changes, or after refusals.
final class Watch: Sendable {
    typealias ChangedFunction =
        @Sendable @convention(c) (
            OpaquePointer?, UnsafePointer<CChar>?, UInt32, UnsafeMutableRawPointer?
        ) -> Void
    typealias FailedFunction =
        @Sendable @convention(c) (
            OpaquePointer?, UnsafePointer<CChar>?, Int32, UnsafePointer<CChar>?,
            UnsafeMutableRawPointer?
        ) -> Void
    typealias FreeFunction = @Sendable @convention(c) (UnsafeMutableRawPointer?) -> Void

    /// The program's pointer, which is only passed on.
    struct Context: @unchecked Sendable {
        let pointer: UnsafeMutableRawPointer?
        let free: FreeFunction?

        func release() { free?(pointer) }
    }

    /// What it waits for, and what is called then.
    enum Source: Sendable {
        case changes(PolledChanges, ChangedFunction)
        case failures(FailureQueue, FailedFunction)
    }

    private enum Phase { case waiting, calling, endedWhileCalling, ended }

    private let context: Context
    /// Nil after the end.
    private let source: Mutex<Source?>
    private let phase = Mutex(Phase.waiting)

    init(_ source: Source, _ context: Context) {
        self.source = Mutex(source)
        self.context = context
    }

    /// Ends it.
    ///
    /// If its callback runs, its context is freed afterwards.
    func end() {
        // What it holds is released without the lock.
        let source = source.withLock { source in
            defer { source = nil }
            return source
        }
        let isFree = phase.withLock { phase in
            switch phase {
            case .waiting:
                phase = .ended
                return true
            case .calling:
                phase = .endedWhileCalling
                return false
            case .endedWhileCalling, .ended: return false
            }
        }
        withExtendedLifetime(source) {}
        if isFree { context.release() }
    }

    /// How many events wait.
    var waiting: Int {
        switch source.withLock({ $0 }) {
        case .changes(let changes, _): changes.waiting
        case .failures(let queue, _): queue.waiting
        case nil: 0
        }
    }

    /// Calls the function for the next event.
    ///
    /// - Returns: Whether there was one.
    func callNext(_ defaults: OpaquePointer) -> Bool {
        let source = source.withLock { $0 }
        guard let source, let call = nextCall(of: source), begin() else { return false }
        call(defaults)
        finish()
        return true
    }

    private func nextCall(of source: Source) -> ((OpaquePointer) -> Void)? {
        let context = context.pointer
        switch source {
        case .changes(let changes, let function):
            guard let change = changes.next() else { return nil }
            let origin: UInt32 = change.isFromThisProcess ? 1 : 0
            return { defaults in
                change.key.withCString { function(defaults, $0, origin, context) }
            }
        case .failures(let queue, let function):
            guard let failure = queue.next() else { return nil }
            return { defaults in
                failure.key.withCString { key in
                    failure.error.message.withCString {
                        function(defaults, key, failure.error.code.rawValue, $0, context)
                    }
                }
            }
        }
    }

    private func begin() -> Bool {
        phase.withLock { phase in
            guard phase == .waiting else { return false }
            phase = .calling
            return true
        }
    }

    private func finish() {
        let hasEnded = phase.withLock { phase in
            defer { phase = phase == .endedWhileCalling ? .ended : .waiting }
            return phase == .endedWhileCalling
        }
        if hasEnded { context.release() }
    }
}

/// The refusals of changes that a program has not been told yet.
final class FailureQueue: Sendable {
    struct Failure: Sendable {
        let key: String
        let error: CallError
    }

    private struct State {
        var waiting: [Failure] = []
        var task: Task<Void, Never>?
    }

    private static var limit: Int { 256 }
    private let state = Mutex(State())

    /// Begins to keep the refusals of a domain.
    init(of defaults: Defaults, _ signal: WakeSignal) {
        // Nothing that is refused from now on is missed.
        let failures = defaults.failures
        let task = LibraryTask.begin { [weak self] in
            for await failure in failures {
                guard let self else { return }
                add(failure)
                signal.raise()
            }
        }
        state.withLock { $0.task = task }
    }

    deinit { state.withLock { $0.task }?.cancel() }

    private func add(_ failure: DefaultsFailure) {
        let error = CallError(failure.error)
        state.withLock { state in
            state.waiting += failure.keys.suffix(Self.limit).map { Failure(key: $0, error: error) }
            state.waiting.removeFirst(max(0, state.waiting.count - Self.limit))
        }
    }

    var waiting: Int { state.withLock { $0.waiting.count } }

    func next() -> Failure? {
        state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
    }
}
