import DBus
import DefaultsClient

/// The answer to a change was lost, so that it may have been made.
struct LostAnswer: Error {
    let cause: DBusError
    /// What to do then.
    let advice: String

    /// The errors after which it is not known whether the service has carried out a call.
    private static let unanswered: Set<ErrorName> = [.disconnected, .noReply, .timeout]

    /// - Returns: Nil for every other error.
    init?(_ error: any Error, advice: String) {
        guard let cause = error.ofContract as? DBusError, Self.unanswered.contains(cause.name)
        else { return nil }
        self.cause = cause
        self.advice = advice
    }
}
