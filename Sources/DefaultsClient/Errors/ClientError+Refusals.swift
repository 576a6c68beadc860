import DBus
import DefaultsProtocol

/// Refusals of the service, as applications are told of them: in its own words.
extension ClientError {
    /// The refusal that a call was answered with, or any other error as it is.
    static func telling(_ error: any Error) -> any Error {
        switch error {
        case let refusal as DefaultsError: ClientError(refusal)
        case let error as DBusError: ClientError(.refused, error.message)
        default: error
        }
    }

    /// The error of a call of ``RemoteDefaults``.
    public init(_ error: any Error) {
        switch error {
        case let error as ClientError: self = error
        case let refusal as DefaultsError: self.init(refusal)
        case let error as DBusError: self.init(.unreachable, error.message)
        default: self.init(.refused, "\(error)")
        }
    }

    init(_ refusal: DefaultsError) {
        let code: Code =
            switch refusal.code {
            case .notFound: .notFound
            case .invalidDomain, .invalidKey: .invalidName
            case .tooLarge: .tooLarge
            case .locked: .locked
            case .conflict: .conflict
            case .storageFailed: .storageFailed
            case .notDurable: .notDurable
            default: .refused
            }
        self.init(code, refusal.message)
    }
}
