internal import DBus

/// Errors that services of secrets answer with.
///
/// https://specifications.freedesktop.org/secret-service/latest/errors.html
extension ErrorName {
    static let locked: ErrorName = "org.freedesktop.Secret.Error.IsLocked"
    static let noSession: ErrorName = "org.freedesktop.Secret.Error.NoSession"
    static let noSuchObject: ErrorName = "org.freedesktop.Secret.Error.NoSuchObject"
    static let accessDenied: ErrorName = "org.freedesktop.DBus.Error.AccessDenied"

    /// Whether the session, an object, the service or the bus has gone since it was last used, so
    /// that another try with everything new may succeed.
    var isOfWhatHasGone: Bool {
        switch self {
        case .disconnected, .noReply, .noSession, .noSuchObject, .unknownObject, .unknownMethod,
            .unknownInterface:
            true
        default: false
        }
    }
}
