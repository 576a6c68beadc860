/// The state of roaming on this machine, as people ask for it.
package struct RoamStatus: Sendable, Equatable {
    /// What the service does.
    package enum State: String, Sendable {
        /// No place was set.
        case off
        /// A place was set, and roaming is turned off for now.
        case paused
        /// Everything that could be exchanged was.
        case upToDate
        /// A round runs.
        case working
        /// The last round was interrupted, and another one will be tried.
        case failing
    }

    /// What the service does.
    package var state = State.off
    /// Where the replicas meet, without secrets; empty if no place was set.
    package var place = ""
    /// The name of this replica; empty if it never met another.
    package var replica = ""
    /// Why the last round was interrupted; empty if it was not.
    package var problem = ""
    /// When the last whole round ended, in seconds since 1970; 0 if there was none since the start.
    package var lastRound: UInt64 = 0
    /// The number of keys that roam and are the same on both sides.
    package var same: UInt64 = 0
    /// The edits that are to be pushed.
    package var waiting: UInt64 = 0
    /// The keys that stay for now, each with the reason.
    package var obstacles: [String: String] = [:]
    /// What cannot be used at the place, other than keys, such as damaged files: one sentence for each.
    package var unusable: [String] = []
    /// How many edits were pushed since the start.
    package var pushed: UInt64 = 0
    /// How many versions of others were stored since the start.
    package var stored: UInt64 = 0

    package init() {}
}
