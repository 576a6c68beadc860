internal import DBus

/// What is wrong with the keyring, before it is known which secret is concerned.
enum KeyringProblem: Error {
    case noBus(DBusError)
    case connectionTimedOut(Duration)
    case dismissed
    case locked
    case badReply(String)
}
