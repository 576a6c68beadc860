internal import DefaultsRoaming
internal import Postgres

extension EngineError {
    /// What a failure means for roaming.
    init(_ error: PostgresError, at address: ServerAddress) {
        let said = "\(address): \(error)"
        switch error.kind {
        case .noPassword:
            self.init(
                .refused,
                "the server does not let you in: \(said); put the password into ~/.pgpass, or use a "
                    + "certificate or Kerberos")
        case .refusedPassword:
            self.init(
                .refused,
                "the server does not let you in: \(said); if the password is wrong, correct it in "
                    + "~/.pgpass or in the file that the address names")
        case .noConnection:
            let hint = said.contains("GSSAPI") ? "get a Kerberos ticket with 'kinit'; " : ""
            self.init(
                .unreachable, "cannot connect to \(said); \(hint)the next attempt comes by itself")
        case .lost:
            self.init(.unreachable, "the connection was lost: \(said)")
        case .unexpected, .wrongAddress:
            self.init(.damaged, "this is not a server for roaming: \(said)")
        case .refused(let state):
            self = Self.refused(state, said)
        }
    }

    private static func refused(_ state: String, _ said: String) -> EngineError {
        switch state.prefix(2) {
        // Lost connections, conflicts of transactions, lack of resources, and an administrator's stop.
        case "08", "40", "53", "55", "57":
            return EngineError(.unreachable, "the server cannot do this now: \(said)")
        default:
            return EngineError(.refused, "the server refuses: \(said); ask its administrator")
        }
    }

    /// There is no row for the user.
    static let noAccount = EngineError(
        .refused,
        "the server has no account for you; its administrator runs 'defaultsd-roam server add-user'"
    )

    /// The server follows another one.
    static let standby = EngineError(
        .unreachable,
        "the server is a standby, which does not accept changes; name the primary as well")

    /// A call came before a meeting.
    static let notMet = EngineError(
        .unreachable, "the connection was lost; the next exchange goes on")

    /// What the server knows of the replica has changed since the meeting.
    static let mustMeet = EngineError(
        .unreachable,
        "another process uses the name of this replica, or it was forgotten; the next exchange joins as new"
    )

    /// The server has sent what no engine sends.
    static func damaged(_ what: String) -> EngineError {
        EngineError(.damaged, "the data on the server is damaged: \(what); ask its administrator")
    }

    /// There is no room for some keys.
    static func full(_ keys: [RoamingKey]) -> EngineError {
        EngineError(
            .full(keys),
            "the account on the server has no room for it, or the value is too large; remove other "
                + "values, or ask its administrator for more")
    }
}
