/// Why the set-up of a server did not work.
package struct SetupError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What failed, why, and what to do: a sentence.
    package let description: String

    init(_ description: String) {
        self.description = description
    }

    static let newer = SetupError(
        "the tables are of a later version of defaultsd-roam; use that version")
    static let tooOld = SetupError("the server is older than PostgreSQL 13; use a later one")
    static let noRights = SetupError("the role may not create roles; use one that may")
    static let sharedThings = SetupError(
        "users can make large objects, which have no bound, and advisory locks, whose memory all "
            + "share; run 'defaultsd-roam server init' as a superuser to prevent both")

    static func encoding(_ database: String) -> SetupError {
        SetupError(
            "the database '\(database)' has another encoding than UTF8; use another database")
    }

    static func powerful(_ name: String) -> SetupError {
        SetupError(
            "'\(name)' is a role with rights over others, for which row security does not hold; "
                + "use another role for roaming")
    }

    static func mayNotRoam(_ name: String) -> SetupError {
        SetupError("'\(name)' may not roam; run 'defaultsd-roam server add-user' first")
    }

    static func noUser(_ name: String) -> SetupError {
        SetupError("there is no role '\(name)'")
    }
}
