/// The other side of roaming: where the replicas of a user meet.
///
/// An engine keeps one version of each key that all replicas agree on, in an order that each replica
/// reads from where it was. It keeps what lost. It does no more: what roams, when, and what becomes of a
/// value here is decided by ``Roamer``.
///
/// All calls of an engine come one at a time, on the loop that the engine was made with. Each ends in
/// the end, also if the network does not answer.
package protocol Engine: AnyObject, Sendable {
    /// Connects, if need be, and makes this replica known.
    ///
    /// Called at the beginning of each round.
    ///
    /// - Parameters:
    ///   - replica: The replica.
    ///   - name: The name of the machine, for people.
    ///   - known: What ``Meeting/place`` was the last time; nil at the first time.
    ///   - lastBatch: The number and nonce of the last batch that the replica has made up, and whether
    ///     the engine has answered it; nil if there is none. If the engine knows of a later one, or of
    ///     another nonce, someone else uses the name. If it does not know of one that it has answered, it
    ///     was put back.
    /// - Throws: ``EngineError``.
    func meet(
        _ replica: ReplicaID, named name: String, known: [UInt8]?,
        lastBatch: (number: UInt64, nonce: [UInt8], isAnswered: Bool)?
    ) async throws -> Meeting

    /// The versions after a revision, in the order of their revisions, and losers up to ``LoserLimit``.
    ///
    /// If there are more losers, the page says that there is more. They come when the first ones are kept.
    ///
    /// - Parameters:
    ///   - revision: The last revision that is known here; 0 for all.
    ///   - limit: The number of versions after which a page ends. A page has all versions of its last
    ///     revision, so it may have more.
    func pull(after revision: UInt64, limit: Int) async throws -> Page

    /// Makes a batch, in one step: all of it or nothing.
    ///
    /// A batch that was made already is not made again: the outcomes are those of the first time. An
    /// edit of a version that is still the engine's replaces it. An edit that has the same value as the
    /// engine's version changes nothing. For all others ``MergeRule`` decides, and what loses is kept
    /// under ``Loser/name`` before this returns.
    ///
    /// - Returns: One outcome for each edit, in their order, and what lost, on either side. Losers above
    ///   ``LoserLimit`` come with the next pull, and are news.
    func push(_ batch: Batch) async throws -> (outcomes: [Outcome], losers: [Loser])

    /// Forgets that these losers were to be told, because they are kept on this machine now.
    func noteKept(_ losers: [Loser]) async throws

    /// Tells how far this replica is: it has all versions up to a revision on its disk.
    func notePulled(upTo revision: UInt64) async throws

    /// The replicas that meet here.
    func machines() async throws -> [Machine]

    /// Forgets a replica, which joins anew if it ever comes back.
    ///
    /// Nothing that it has pushed is lost.
    func forget(_ replica: ReplicaID) async throws

    /// Calls a closure each time when there may be news, until ``close()``.
    ///
    /// The closure is called on the loop. An engine without a way to hear of news never calls it.
    func onNews(_ body: @escaping @Sendable () -> Void) async throws

    /// How often to look for news, besides those that are heard of; nil if all are.
    var pollInterval: Duration? { get }

    /// What the engine has and cannot be used, by the names that it has there, with the reasons.
    var refusals: [RoamingKey: String] { get async }

    /// What the engine cannot use, other than keys, such as damaged files: one sentence for each.
    var problems: [String] { get async }

    /// Lets go of everything outside of the process.
    func close() async
}

extension Engine {
    /// Nothing: the engine hands out what it has as it is.
    package var refusals: [RoamingKey: String] { [:] }

    /// None: the engine uses all that it has.
    package var problems: [String] { [] }
}

/// How a replica finds the engine.
package struct Meeting: Sendable, Equatable {
    /// What the replica is to the engine.
    package enum State: Sendable, Equatable {
        /// All is as it was.
        case continued
        /// The engine may know less than it did: a server was restored, or another one took over.
        case rewound
        /// Someone else uses the name of this replica: it was copied, or put back to an earlier state.
        /// Or the engine has forgotten it. It joins anew, under another name.
        case mustJoinAnew
    }

    /// What the replica is to the engine.
    package let state: State
    /// What tells this meeting place from others, and from itself after it was put back.
    package let place: [UInt8]
    /// The revision of the last change.
    package let revision: UInt64
    /// Up to which revision an engine that was put back has surely lost nothing; 0 if that is not known.
    package let shared: UInt64

    package init(state: State, place: [UInt8], revision: UInt64, shared: UInt64 = 0) {
        self.state = state
        self.place = place
        self.revision = revision
        self.shared = shared
    }
}

/// Some versions, in the order of their revisions.
package struct Page: Sendable {
    /// The versions, one for each key.
    package let versions: [Version]
    /// What has lost on other replicas' account and is to be kept by this one.
    package let losers: [Loser]
    /// The revision up to which this is all.
    package let revision: UInt64
    /// Whether there may be more: versions, or losers once these are kept.
    package let hasMore: Bool

    package init(versions: [Version], losers: [Loser] = [], revision: UInt64, hasMore: Bool) {
        self.versions = versions
        self.losers = losers
        self.revision = revision
        self.hasMore = hasMore
    }
}

/// A replica, as people see it.
package struct Machine: Sendable, Equatable {
    /// The replica.
    package let id: ReplicaID
    /// The name of the machine.
    package let name: String
    /// When it was last there, in microseconds since 1970; nil if that is not known.
    package let seen: Int64?

    package init(id: ReplicaID, name: String, seen: Int64?) {
        self.id = id
        self.name = name
        self.seen = seen
    }
}

/// Why an engine could not do what it was asked for.
package struct EngineError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What to do about it.
    package enum Kind: Sendable, Equatable {
        /// The engine cannot be reached; try again later.
        case unreachable
        /// The engine refuses; someone has to do something.
        case refused
        /// There is no room for these keys: others go on.
        case full([RoamingKey])
        /// What the engine has is not what an engine has: it is damaged, or an enemy's.
        case damaged
    }

    /// What to do about it.
    package let kind: Kind
    /// What failed, why, and what to do: a sentence.
    package let description: String

    package init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
