package import DBus
internal import Synchronization

/// Why a secret could not be read or stored, with a sentence for people.
///
/// The sentence says what was tried, with which secret, why it failed, and what to do. No error ever
/// holds a secret, nor what the coding of a value said of it.
public struct SecretsError: Error, Hashable {
    /// The kind of the error, for programs.
    public struct Code: Hashable, Sendable {
        /// The code's name, for messages and tests.
        public let name: String

        /// The user's bus cannot be reached.
        public static let noBus = Code(name: "noBus")
        /// No program on the bus keeps secrets.
        public static let noService = Code(name: "noService")
        /// The service, or the bus, did not answer within the bound; whether it has done what it was
        /// asked is not known.
        public static let timedOut = Code(name: "timedOut")
        /// The service, or the bus, ended before it had answered, and did so again when it was asked
        /// anew; whether the change is stored is not known.
        public static let interrupted = Code(name: "interrupted")
        /// The keyring stayed locked.
        public static let locked = Code(name: "locked")
        /// The keyring was to ask the user, who said no, or whom it has no way to ask.
        public static let dismissed = Code(name: "dismissed")
        /// The service, or the bus, does not let this program.
        public static let denied = Code(name: "denied")
        /// The service refused for a reason of its own.
        public static let refused = Code(name: "refused")
        /// The service answered what the specification does not allow.
        public static let badReply = Code(name: "badReply")
        /// The secret is too large for a keyring.
        public static let tooLarge = Code(name: "tooLarge")
        /// The domain or the key is empty or has a NUL character.
        public static let invalidName = Code(name: "invalidName")
        /// The value's type could not encode it.
        public static let notEncodable = Code(name: "notEncodable")
        /// What the keyring has is no value of the key's type.
        public static let notDecodable = Code(name: "notDecodable")
    }

    /// The kind of the error.
    public let code: Code
    /// The domain of the secret.
    public let domain: String
    /// The name of the secret's key; nil where the whole keyring was concerned.
    public let key: String?
    /// A sentence that says what is wrong and what to do; it never contains a secret.
    public let message: String
    /// What the bus or the service said, if that is the reason; the message has its words.
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
/// Each iterator gets every error from its start on; the first also those that nobody was there for.
/// So many as wait to be fetched are kept: the newest 64. The sequence ends with the task.
public struct SecretsErrors: AsyncSequence, Sendable {
    /// Fetches the errors, one after the other.
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
    /// The key whose errors these are; nil for those of all.
    let key: String?

    /// Begins to fetch the errors.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(iterator: feed.subscribe(to: key).makeAsyncIterator())
    }
}

/// Who wants to know of errors, and the errors that nobody was there for.
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

/// What is wrong with the keyring, before it is known which secret is concerned.
enum KeyringProblem: Error {
    case noBus(DBusError)
    case connectionTimedOut(Duration)
    case dismissed
    case locked
    case badReply(String)
}
