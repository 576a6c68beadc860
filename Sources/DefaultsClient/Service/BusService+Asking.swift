import DBus
import DefaultsProtocol
import Dispatch
import Synchronization

/// Requests that a caller waits for.
extension BusService {
    func fetch(_ name: KeyName, in spelling: String) throws(DefaultsError) -> [UInt8]? {
        try waiting { service, answer in
            service.question(Contract.Get.self, (spelling, name.string)) {
                answer(Self.orNil($0.map(\.archive)))
            }
        }
    }

    func isLocked(_ name: KeyName, in domain: String) throws(DefaultsError) -> Bool {
        try waiting { service, answer in
            service.question(Contract.IsLocked.self, (domain, name.string), completion: answer)
        }
    }

    func read(
        _ name: KeyName, in spelling: String
    ) async throws -> (bytes: [UInt8]?, generation: UInt64) {
        let outcome = OneShot<Contract.Get.Reply?>()
        ask { service in
            service.question(Contract.Get.self, (spelling, name.string)) {
                outcome.resume(Self.orNil($0))
            }
        }
        let answer = try await reaching {
            try await outcome.value(within: .seconds(30), on: loop)
        }
        guard let found = answer else { return (nil, 0) }
        return (found.archive, found.generation)
    }

    func synchronize(within bound: Duration) async throws -> UInt64 {
        let outcome = OneShot<UInt64>()
        ask { service in
            // As long as the service waits: a slow disk is not a lost reply.
            service.question(Contract.Synchronize.self, (), timeout: .seconds(300)) {
                outcome.resume($0)
            }
        }
        return try await reaching { try await outcome.value(within: bound, on: loop) }
    }

    func askHistory<C: Call>(
        _ method: C.Type, _ arguments: C.Arguments, isChange: Bool, within bound: Duration
    ) async throws -> C.Reply {
        let outcome = OneShot<C.Reply>()
        ask { service in
            service.question(method, arguments, isChange: isChange, timeout: bound) {
                outcome.resume(Self.orWithoutHistory($0))
            }
        }
        return try await reaching { try await outcome.value(within: bound, on: loop) }
    }

    /// The outcome of a call of the history, in the words for a service that has none.
    private static func orWithoutHistory<Value>(
        _ outcome: Result<Value, any Error>
    ) -> Result<Value, any Error> {
        guard case .failure(let error as DBusError) = outcome,
            error.name == .unknownMethod || error.name == .unknownInterface
        else { return outcome }
        return .failure(DefaultsError.withoutHistory)
    }

    /// Calls a method, and retries if the call is lost, for example because the daemon has ended.
    ///
    /// The next call starts the daemon again. If the method changes something, it is called again only if it
    /// was not sent: otherwise nobody knows whether the change was made.
    private func question<C: Call>(
        _ method: C.Type, _ arguments: C.Arguments, isChange: Bool = false,
        timeout: Duration = .seconds(25), until end: ContinuousClock.Instant? = nil,
        completion: @escaping @Sendable (Result<C.Reply, any Error>) -> Void
    ) {
        let attachment = attachment
        let end = end ?? .now + waitBound
        send(method, arguments, isChange: isChange, timeout: timeout) { [weak self] outcome in
            guard let self else { return completion(outcome) }
            guard case .failure(let error) = outcome, !Self.isRefusal(error) else {
                noteAlive()
                return completion(outcome)
            }
            guard !isUnreachable, ContinuousClock.now < end, !isChange || Self.isUnsent(error)
            else {
                lost(error, attachment)
                return completion(outcome)
            }
            if Self.isWithoutOwner(error) { serviceHasGone() }
            loop?.schedule(after: Self.pause) {
                self.question(
                    method, arguments, isChange: isChange, timeout: timeout, until: end,
                    completion: completion)
            }
        }
    }

    /// Calls a method, unless it changes something and it is not known yet which daemon answers.
    private func send<C: Call>(
        _ method: C.Type, _ arguments: C.Arguments, isChange: Bool, timeout: Duration,
        completion: @escaping @Sendable (Result<C.Reply, any Error>) -> Void
    ) {
        guard !isChange || direct.isOpen else {
            return completion(
                .failure(DefaultsError.unreachable("The daemon has not said who it is.")))
        }
        call(method, arguments, timeout: timeout, completion: completion)
    }

    /// Whether an error means that the daemon has not got the call.
    private static func isUnsent(_ error: any Error) -> Bool {
        error is DefaultsError || isWithoutOwner(error)
    }

    /// How long until a lost call is retried.
    private static let pause = Duration.milliseconds(20)

    /// Notes that the service answers again.
    private func noteAlive() {
        noteAnswer()
        if isUnreachable { enterAnswering() }
    }

    /// The outcome with nil for `notFound`.
    private static func orNil<Value>(
        _ outcome: Result<Value, any Error>
    ) -> Result<Value?, any Error> {
        switch outcome {
        case .success(let value): .success(value)
        case .failure(let error as ContractError) where error.code == .notFound: .success(nil)
        case .failure(let error): .failure(error)
        }
    }

    private func ask(_ body: @escaping @Sendable (BusService) -> Void) {
        onLoop(body)
    }

    private func reaching<Value>(_ body: () async throws -> Value) async throws -> Value {
        guard loop != nil else {
            throw DefaultsError.unreachable("The process has no thread to spare.")
        }
        do {
            return try await body()
        } catch let error as CancellationError {
            throw error
        } catch {
            throw unreached(error) ?? .refusal(error)
        }
    }

    /// The error of a request that was not answered, with the reason that a read gives; nil for an answer.
    private func unreached(_ error: any Error) -> DefaultsError? {
        let isLost = error is DBusError || (error as? DefaultsError)?.code == .unreachable
        if isLost, case .unreachable(let reason) = state { return .unreachable(reason) }
        return (error as? DBusError).map { .unreachable("\($0).") }
    }

    /// Makes a request on the loop's thread, and blocks the calling thread until the answer has come.
    private func waiting<Value: Sendable>(
        _ body:
            @escaping @Sendable (
                BusService, @escaping @Sendable (Result<Value, any Error>) -> Void
            ) -> Void
    ) throws(DefaultsError) -> Value {
        guard let loop, !loop.isCurrent else {
            throw .unreachable("This thread is the one that would have to answer.")
        }
        if case .unreachable(let reason) = state { throw .unreachable(reason) }
        let answered = DispatchSemaphore(value: 0)
        let answer = Answer<Value>()
        onLoop { service in
            body(service) { outcome in
                answer.set(outcome)
                answered.signal()
            }
        }
        guard wait(for: answered), let outcome = answer.outcome else {
            noteSilence()
            throw .noAnswer(after: waitBound)
        }
        switch outcome {
        case .success(let value): return value
        case .failure(let error as DBusError): throw .unreachable("\(error).")
        case .failure(let error): throw .refusal(error)
        }
    }
}

/// The outcome of a request, for the thread that waits for it.
private final class Answer<Value: Sendable>: Sendable {
    private let held = Mutex<Result<Value, any Error>?>(nil)

    var outcome: Result<Value, any Error>? { held.withLock { $0 } }

    func set(_ outcome: Result<Value, any Error>) {
        held.withLock { $0 = outcome }
    }
}
