import Synchronization
import SystemCalls

/// A failure of a call that does not throw, as ``Defaults/failures`` reports it.
public struct DefaultsFailure: Sendable {
    /// What was tried.
    public enum Action: Sendable, Hashable {
        /// A change was refused. The key has its old value again.
        case write
        /// A value is not of its key's type. The default was read instead.
        case read
        /// A value that could not be decoded was replaced. The error names the key under which the old
        /// value is kept.
        case replace
    }

    /// What was tried.
    public let action: Action
    /// The names of the keys, sorted.
    public let keys: [String]
    /// The domain, with the suffix of the layer.
    public let domain: String
    /// Why.
    public let error: DefaultsError

    /// Makes a failure, for tests of what an application does then.
    ///
    /// - Parameters:
    ///   - action: What was tried.
    ///   - keys: The names of the keys, in any order.
    ///   - domain: The domain, with the suffix of the layer, such as `org.example.Game@host`.
    ///   - error: Why it failed.
    public init(action: Action, keys: [String], domain: String, error: DefaultsError) {
        self.init(action: action, keys: keys.map(KeyName.init), domain: domain, error: error)
    }

    init(action: Action, keys: [KeyName], domain: String, error: DefaultsError) {
        self.action = action
        self.keys = keys.sorted().map(\.string)
        self.domain = domain
        self.error = error
    }
}

/// Gives failures to listeners, and prints them on standard error if there is none.
///
/// It keeps the first refusal of a change for the next `flush`, which must not call that change kept.
final class Failures: Sendable {
    private let listeners = Broadcast<DefaultsFailure>()
    private let refusal = Mutex<DefaultsError?>(nil)
    /// The lines that were printed, so that none is printed twice.
    private let written = Mutex<Set<String>>([])

    /// How many different lines are printed.
    private static var mostLines: Int { 256 }

    /// The failures from now on.
    func stream() -> AsyncStream<DefaultsFailure> { listeners.stream() }

    /// Keeps the error of a change that was refused, unless an earlier one is kept.
    func keepRefusal(_ error: DefaultsError) {
        refusal.withLock { $0 = $0 ?? error }
    }

    /// The error of the first change that was refused since the last call of this.
    func takeRefusal() -> DefaultsError? { refusal.withLock { $0.take() } }

    func tell(_ failure: DefaultsFailure) {
        guard !listeners.tell(failure) else { return }
        let line = failure.line
        let isNew = written.withLock { $0.count < Self.mostLines && $0.insert(line).inserted }
        if isNew { StandardError.say(line, from: "defaults") }
    }
}

extension DefaultsFailure {
    /// How many keys a line names.
    private static var mostNames: Int { 3 }

    /// The failure in one line, without any value.
    var line: String {
        let names = keys.prefix(Self.mostNames).map { "'\($0)'" }.joined(separator: ", ")
        let others = keys.count - min(keys.count, Self.mostNames)
        let subject = names + (others > 0 ? " and \(others) more" : "")
        let event =
            switch action {
            case .write: "was not changed"
            case .read: "cannot be read, and the default is used instead"
            case .replace: "was replaced, though it could not be read"
            }
        return "\(subject) of \(domain) \(event): \(error.explanation)"
    }
}
