package import DBus
internal import Synchronization

/// Why a secret could not be read or stored, with a sentence for people.
///
/// The sentence says what failed, for which secret, why, and what to do. An error never contains a
/// secret, or an error that the type of a value threw.
public struct SecretsError: Error, Hashable {
    /// The kind of the error, for programs.
    public struct Code: Hashable, Sendable {
        /// The code's name, for messages and tests.
        public let name: String

        /// The user's bus cannot be reached.
        public static let noBus = Code(name: "noBus")
        /// No program on the bus stores secrets.
        public static let noService = Code(name: "noService")
        /// The service or the bus did not answer in time.
        ///
        /// It is not known whether the call was carried out.
        public static let timedOut = Code(name: "timedOut")
        /// The service or the bus ended before it had answered, twice.
        ///
        /// It is not known whether the change was stored.
        public static let interrupted = Code(name: "interrupted")
        /// The keyring is locked, and was not unlocked.
        public static let locked = Code(name: "locked")
        /// The user refused, or the keyring could not ask the user.
        public static let dismissed = Code(name: "dismissed")
        /// The service or the bus does not allow this program to call it.
        public static let denied = Code(name: "denied")
        /// The service refused for a reason of its own.
        public static let refused = Code(name: "refused")
        /// The service gave an answer that the specification does not allow.
        public static let badReply = Code(name: "badReply")
        /// The secret is larger than 1 MiB.
        public static let tooLarge = Code(name: "tooLarge")
        /// The domain or the key is empty or has a NUL character.
        public static let invalidName = Code(name: "invalidName")
        /// The value's type could not encode it.
        public static let notEncodable = Code(name: "notEncodable")
        /// The value in the keyring is not of the key's type.
        public static let notDecodable = Code(name: "notDecodable")
    }

    /// The kind of the error.
    public let code: Code
    /// The domain of the secret.
    public let domain: String
    /// The name of the secret's key; nil if the error is about the whole keyring.
    public let key: String?
    /// A sentence for people that says what failed, why, and what to do.
    ///
    /// It never contains a secret.
    public let message: String
    /// The error of the bus or the service, if that is the reason.
    package let cause: DBusError?

    init(
        _ code: Code, domain: String, key: String?, _ message: String, cause: DBusError? = nil
    ) {
        self.code = code
        self.domain = domain
        self.key = key
        self.message = message
        self.cause = cause
    }
}

extension SecretsError: CustomStringConvertible {
    /// The sentence for people.
    public var description: String { message }
}

/// The errors of changes that were stored in the background, as they happen.
///
/// ```swift
/// Task {
///     for await error in secrets.errors { show(error.message) }
/// }
/// ```
///
/// Each iterator gets every error after its start. The first iterator also gets the errors before it.
/// The newest 64 are kept for a slow consumer. The sequence ends when its task is cancelled.
public struct SecretsErrors: AsyncSequence, Sendable {
    /// Iterates over the errors.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var iterator: AsyncStream<SecretsError>.Iterator

        /// The next error; nil when the task is cancelled.
        public mutating func next() async -> SecretsError? {
            await iterator.next()
        }

        /// The next error; nil when the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> SecretsError? {
            await iterator.next(isolation: actor)
        }
    }

    let feed: SecretsErrorFeed
    /// The key that the errors are about; nil for all.
    let key: String?

    /// Begins the iteration.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(iterator: feed.subscribe(to: key).makeAsyncIterator())
    }
}

/// The subscribers to errors, and the errors that no subscriber has got yet.
final class SecretsErrorFeed: Sendable {
    private static let limit = 64

    private struct State {
        var untold: [SecretsError] = []
        var lastNumber = 0
        var subscribers: [Int: Subscriber] = [:]
    }

    private struct Subscriber {
        let key: String?
        let continuation: AsyncStream<SecretsError>.Continuation

        func wants(_ error: SecretsError) -> Bool { key == nil || key == error.key }
    }

    private let state = Mutex(State())

    func report(_ error: SecretsError) {
        state.withLock { state in
            let interested = state.subscribers.values.filter { $0.wants(error) }
            for subscriber in interested { subscriber.continuation.yield(error) }
            guard interested.isEmpty else { return }
            if state.untold.count == Self.limit { state.untold.removeFirst() }
            state.untold.append(error)
        }
    }

    func subscribe(to key: String?) -> AsyncStream<SecretsError> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: SecretsError.self, bufferingPolicy: .bufferingNewest(Self.limit))
        let subscriber = Subscriber(key: key, continuation: continuation)
        let number = state.withLock { state in
            state.lastNumber += 1
            for error in state.untold where subscriber.wants(error) { continuation.yield(error) }
            state.untold.removeAll { subscriber.wants($0) }
            state.subscribers[state.lastNumber] = subscriber
            return state.lastNumber
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.subscribers[number] = nil }
        }
        return stream
    }
}

/// An error of the keyring, before it is known which secret it is about.
enum KeyringProblem: Error {
    case noBus(DBusError)
    case connectionTimedOut(Duration)
    case dismissed
    case locked
    case badReply(String)
}
