import DefaultsProtocol
import DefaultsTerms
public import KeyedArchive

/// What a person would call one change: all keys of one change, or of successive changes by one program.
public struct HistoryAction: Sendable, Hashable, Identifiable {
    /// What kind of action it was.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// The word of the contract.
        public let rawValue: String

        /// Makes a kind from a word of the contract.
        ///
        /// - Parameter rawValue: A later version of the service may have words that this one does not know.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A program has changed something.
        public static let change = Kind(rawValue: "change")
        /// An earlier action was taken back.
        public static let undo = Kind(rawValue: "undo")
        /// What an undo had taken back was done again.
        public static let redo = Kind(rawValue: "redo")
        /// A document with settings was applied, or taken back.
        public static let document = Kind(rawValue: "document")
        /// It came from another machine of the user.
        public static let roam = Kind(rawValue: "roam")
        /// A backup was restored.
        public static let restore = Kind(rawValue: "restore")
        /// A program has answered an undo or a redo at once: a dialog that is open stores its own value.
        public static let answer = Kind(rawValue: "answer")
        /// A change that was found later, in the journal of a daemon that was killed.
        public static let late = Kind(rawValue: "late")
    }

    /// Who has made an action.
    public struct Author: Sendable, Hashable {
        /// The name of the program; empty if it is unknown.
        public let program: String
        /// The application ID, if the program runs in a sandbox; otherwise empty.
        public let application: String
        /// The machine that it came from by roaming; empty for this one.
        public let machine: String
        /// The owner of the document that made it; empty if none did.
        public let owner: String
    }

    /// Counts the actions of the database from 1.
    public let number: UInt64
    /// The generation of its first change.
    public let firstGeneration: UInt64
    /// The generation of its last change.
    public let lastGeneration: UInt64
    /// When it began, in seconds since 1970.
    public let began: Int64
    /// When it ended, in seconds since 1970.
    public let ended: Int64
    /// Who has made it.
    public let author: Author
    /// What kind it is.
    public let kind: Kind
    /// The numbers of the actions that it has taken back or done again.
    public let references: [UInt64]
    /// How many keys it changed.
    public let keyCount: Int
    /// How many of these the history has; the others cannot be taken back.
    public let knownKeyCount: Int
    /// Whether it is taken back.
    public let isUndone: Bool
    /// Whether it can be what a person means by "undo" without a number: not the actions of background
    /// programs, of other machines, and of the service.
    public let isByHand: Bool
    /// What else is to be known about it, as a sentence; empty if nothing is.
    public let note: String

    /// The number.
    public var id: UInt64 { number }
}

/// What a key had at some time.
public enum HistoryValue: Sendable {
    /// The key had no value.
    case absent
    /// The archive that it had.
    case present(KeyedArchive)
    /// The history does not know it.
    case unknown
    /// The history knows it, but it had no room in the reply; ask for this key alone.
    case omitted
}

/// A key that an action changed.
public struct HistoryChange: Sendable {
    /// The domain, with the suffix of its layer.
    public let domain: String
    /// The key.
    public let key: String
    /// The generation of the action's first change of the key.
    public let firstGeneration: UInt64
    /// The generation of the action's last change of the key.
    public let lastGeneration: UInt64
    /// What the key had before.
    public let was: HistoryValue
    /// What the key had after it.
    public let became: HistoryValue
    /// What would become of the key if the action was taken back.
    public let standing: HistoryStanding
}

/// What would become of a key if an action was taken back.
public struct HistoryStanding: RawRepresentable, Hashable, Sendable {
    /// The word of the contract.
    public let rawValue: String

    /// Makes one from a word of the contract.
    ///
    /// - Parameter rawValue: A later version of the service may have words that this one does not know.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// It gets its earlier value.
    public static let holds = HistoryStanding(rawValue: "holds")
    /// The action has ended with the value that it began with.
    public static let void = HistoryStanding(rawValue: "void")
    /// It was taken back before.
    public static let undone = HistoryStanding(rawValue: "undone")
    /// Something else has changed it since.
    public static let changed = HistoryStanding(rawValue: "changed")
    /// Something else has changed it since, and it has its earlier value again.
    public static let same = HistoryStanding(rawValue: "same")
    /// The administrator has locked it.
    public static let locked = HistoryStanding(rawValue: "locked")
    /// The history does not have its earlier value.
    public static let unknown = HistoryStanding(rawValue: "unknown")
}

/// Which actions are listed.
public struct HistoryQuery: Sendable, Hashable {
    /// Only those that changed this domain, with the suffix of its layer; nil for all.
    public var domain: String?
    /// Only those that changed this key of the domain; nil for all.
    public var key: String?
    /// Only those of this program; nil for all.
    public var program: String?
    /// Only those that ended at this time or later, in seconds since 1970; nil for all.
    public var since: Int64?
    /// Only those that began at this time or earlier, in seconds since 1970; nil for all.
    public var until: Int64?
    /// Only those with a lower number, to go on with a list; nil for all.
    public var before: UInt64?
    /// How many at most: the service lists up to 1000 at once.
    public var limit = 1000

    /// Makes a query for all actions.
    public init() {}
}

/// What becomes of a key when actions are taken back or done again.
public struct TakenBackKey: Sendable {
    /// The domain, with the suffix of its layer.
    public let domain: String
    /// The key.
    public let key: String
    /// What it has now.
    public let now: HistoryValue
    /// What it gets.
    public let target: HistoryValue
    /// Whether it is changed: only if this is ``HistoryStanding/holds``, or by force.
    public let standing: HistoryStanding
}

/// An action as its caller knows it.
public struct ActionReference: Sendable, Hashable {
    /// The number of the action.
    public let number: UInt64
    /// The generation of its last change when the caller has seen it.
    public let lastGeneration: UInt64

    /// Refers to an action.
    ///
    /// - Parameters:
    ///   - number: The number of the action.
    ///   - lastGeneration: The generation of its last change, as the caller has seen it: if the action has
    ///     gone on since, the service refuses to take it back.
    public init(_ number: UInt64, lastGeneration: UInt64) {
        self.number = number
        self.lastGeneration = lastGeneration
    }

    /// Refers to an action as it was listed.
    public init(_ action: HistoryAction) {
        self.init(action.number, lastGeneration: action.lastGeneration)
    }
}

/// How actions are taken back.
public struct TakingBackOptions: Sendable, Hashable {
    /// Only this domain, with the suffix of its layer; nil for all.
    public var domain: String?
    /// Only this key of the domain; nil for all.
    public var key: String?
    /// Whether the keys that hold are taken back even if others do not.
    public var isPartial = false
    /// Whether keys that were changed since are taken back, too.
    public var isForced = false
    /// Whether the answer waits until the change is on disk.
    public var isDurable = false

    /// Makes options for all keys of the actions, or none.
    public init() {}
}

/// The history: what changed earlier, and taking it back.
///
/// ```swift
/// let service = try await RemoteDefaults.connect()
/// var query = HistoryQuery()
/// query.domain = "org.example.Game"
/// let actions = try await service.actions(query).actions
/// if let newest = actions.first(where: { $0.isByHand && !$0.isUndone }) {
///     try await service.undo([ActionReference(newest)])
/// }
/// ```
///
/// A program in a sandbox may not use it: the service refuses it with `accessDenied`.
extension RemoteDefaults {
    /// Reading many values, and waiting for the flush before.
    private static let historyPatience = Duration.seconds(300)

    /// The actions that a query means, the newest first.
    ///
    /// - Parameter query: Which actions; by default all.
    /// - Returns: The actions, and the time from which on the history is complete, in seconds since 1970.
    /// - Throws: ``DefaultsError``.
    public func actions(
        _ query: HistoryQuery = .init()
    ) async throws -> (actions: [HistoryAction], knownFrom: Int64) {
        let reply = try await call(
            Contract.ListActions.self, HistoryFilter(query), timeout: Self.historyPatience)
        return (reply.actions.map(HistoryAction.init), reply.knownFrom)
    }

    /// An action with the keys that it changed.
    ///
    /// - Parameter number: The number of the action.
    /// - Throws: ``DefaultsError`` with `notFound` if the history does not have it; `ArchiveError` if an
    ///   archive is damaged.
    public func action(
        _ number: UInt64
    ) async throws -> (action: HistoryAction, changes: [HistoryChange]) {
        let reply = try await call(
            Contract.GetAction.self, number, timeout: Self.historyPatience)
        return (HistoryAction(reply.action), try reply.changes.map(HistoryChange.init))
    }

    /// The values that keys had after a change, as far as that is known.
    ///
    /// - Parameters:
    ///   - keys: The keys; empty for all of the domain.
    ///   - domain: The domain, with the suffix of a layer.
    ///   - generation: The generation of the change.
    /// - Returns: The values, and whether all keys of the domain are among them if all were asked for.
    /// - Throws: ``DefaultsError``, with `tooLarge` if there are too many; `ArchiveError` if an archive is
    ///   damaged.
    public func values(
        of keys: [String] = [], in domain: String, atGeneration generation: UInt64
    ) async throws -> (values: [String: HistoryValue], isComplete: Bool) {
        let reply = try await call(
            Contract.GetAt.self, (domain, keys, generation, 0), timeout: Self.historyPatience)
        return (try reply.values.byKey(), reply.isComplete)
    }

    /// The values that keys had at a time, as far as that is known.
    ///
    /// - Parameters:
    ///   - keys: The keys; empty for all of the domain.
    ///   - domain: The domain, with the suffix of a layer.
    ///   - time: The time, in seconds since 1970.
    /// - Returns: The values, whether all keys of the domain are among them if all were asked for, and the
    ///   generation of the last change whose time is not later.
    /// - Throws: ``DefaultsError``, with `tooLarge` if there are too many; `ArchiveError` if an archive is
    ///   damaged.
    public func values(
        of keys: [String] = [], in domain: String, at time: Int64
    ) async throws -> (values: [String: HistoryValue], isComplete: Bool, generation: UInt64) {
        let reply = try await call(
            Contract.GetAt.self, (domain, keys, 0, time), timeout: Self.historyPatience)
        return (try reply.values.byKey(), reply.isComplete, reply.generation)
    }

    /// Takes actions back, in one change: each key gets the value that it had before the first of them.
    ///
    /// - Parameters:
    ///   - actions: The actions, as they were listed.
    ///   - options: By default all keys of the actions are taken back, or none.
    /// - Returns: The generation of the change, which is 0 if nothing was changed, and what has become of each
    ///   key.
    /// - Throws: ``DefaultsError``: `conflict` if something else has changed a key since, or if an action has
    ///   gone on; `locked` if the administrator has locked a key; `notFound` if the history does not have
    ///   all of an action.
    @discardableResult
    public func undo(
        _ actions: [ActionReference], _ options: TakingBackOptions = .init()
    ) async throws -> (generation: UInt64, keys: [TakenBackKey]) {
        try await takeBack(Contract.Undo.self, actions, options, isDry: false)
    }

    /// What ``undo(_:_:)`` would do.
    public func undoPlan(
        _ actions: [ActionReference], _ options: TakingBackOptions = .init()
    ) async throws -> [TakenBackKey] {
        try await takeBack(Contract.Undo.self, actions, options, isDry: true).keys
    }

    /// Does again what undo actions have taken back, in one change.
    ///
    /// - Parameters:
    ///   - actions: Actions of the kind `undo`, as they were listed.
    ///   - options: By default all keys are done again, or none.
    /// - Returns: The generation of the change, which is 0 if nothing was changed, and what has become of each
    ///   key.
    /// - Throws: The errors of ``undo(_:_:)``.
    @discardableResult
    public func redo(
        _ actions: [ActionReference], _ options: TakingBackOptions = .init()
    ) async throws -> (generation: UInt64, keys: [TakenBackKey]) {
        try await takeBack(Contract.Redo.self, actions, options, isDry: false)
    }

    /// What ``redo(_:_:)`` would do.
    public func redoPlan(
        _ actions: [ActionReference], _ options: TakingBackOptions = .init()
    ) async throws -> [TakenBackKey] {
        try await takeBack(Contract.Redo.self, actions, options, isDry: true).keys
    }

    private func takeBack<Method: TakingBackCall>(
        _ method: Method.Type, _ actions: [ActionReference], _ options: TakingBackOptions,
        isDry: Bool
    ) async throws -> (generation: UInt64, keys: [TakenBackKey]) {
        let arguments = TakingBackArguments(actions, options, isDry: isDry)
        let reply = try await call(method, arguments, timeout: Self.historyPatience)
        return (reply.generation, try reply.changes.map(TakenBackKey.init))
    }
}

// MARK: To the forms of the contract, and from them

extension HistoryFilter {
    /// The filter of a query.
    init(_ query: HistoryQuery) {
        self.init()
        domain = query.domain ?? ""
        key = query.key ?? ""
        program = query.program ?? ""
        since = query.since ?? .min
        until = query.until ?? .max
        before = query.before ?? 0
        limit = UInt32(clamping: query.limit)
    }
}

extension TakingBackArguments {
    /// The arguments for actions and options.
    init(_ actions: [ActionReference], _ options: TakingBackOptions, isDry: Bool) {
        self.init(actions: actions.map { ($0.number, $0.lastGeneration) })
        domain = options.domain ?? ""
        key = options.key ?? ""
        isPartial = options.isPartial
        isForced = options.isForced
        isDurable = options.isDurable
        self.isDry = isDry
    }
}

extension HistoryAction {
    init(_ action: HistoryActionForm) {
        self.init(
            number: action.number, firstGeneration: action.first, lastGeneration: action.last,
            began: action.began, ended: action.ended,
            author: Author(
                program: action.program, application: action.application,
                machine: action.machine, owner: action.owner),
            kind: Kind(rawValue: action.kind), references: action.references,
            keyCount: Int(action.keys), knownKeyCount: Int(action.known),
            isUndone: action.isUndone, isByHand: action.isByHand, note: action.note)
    }
}

extension HistoryValue {
    init(_ value: HistoryValueForm) throws {
        self =
            switch value.knowledge {
            case .absent: .absent
            case .present: .present(try KeyedArchive(validating: value.archive))
            case .unknown: .unknown
            case .omitted: .omitted
            }
    }
}

extension HistoryChange {
    init(_ change: HistoryChangeForm) throws {
        self.init(
            domain: change.domain, key: change.key, firstGeneration: change.first,
            lastGeneration: change.last, was: try HistoryValue(change.was),
            became: try HistoryValue(change.became),
            standing: HistoryStanding(rawValue: change.standing))
    }
}

extension TakenBackKey {
    init(_ key: TakenBackForm) throws {
        self.init(
            domain: key.domain, key: key.key, now: try HistoryValue(key.now),
            target: try HistoryValue(key.target), standing: HistoryStanding(rawValue: key.standing))
    }
}

extension [(key: String, value: HistoryValueForm)] {
    fileprivate func byKey() throws -> [String: HistoryValue] {
        var values: [String: HistoryValue] = [:]
        for (key, value) in self { values[key] = try HistoryValue(value) }
        return values
    }
}
