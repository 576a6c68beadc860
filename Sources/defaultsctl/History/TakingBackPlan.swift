import DefaultsClient
import Wording

/// What becomes of each key if actions are taken back or done again.
struct TakingBackPlan {
    let target: TakingBackTarget
    /// The keys that get their values.
    let taken: [TakenBackKey]
    /// The keys that were changed since, and get their values by force.
    let forced: [TakenBackKey]
    /// The keys that stand in the way.
    let blocked: [TakenBackKey]
    /// The actions of which the history does not have all keys; none if only some keys are meant.
    private let incomplete: [HistoryAction]
    /// The newest actions that have changed keys since, by domain and key.
    private let newer: [[String]: HistoryAction]
    /// The names of the keys of the actions that are passed over, by the number of the action.
    private let passedKeys: [UInt64: String]

    /// Asks the service.
    ///
    /// - Parameter isForced: Whether keys that were changed since are taken back, too.
    init(
        for target: TakingBackTarget, isForced: Bool, asking defaults: RemoteDefaults
    ) async throws {
        self.target = target
        var options = TakingBackOptions()
        (options.domain, options.key) = (target.scope.domain, target.scope.key)
        // Keys that do not hold are in the answer, and are not an error of it.
        options.isPartial = true
        let keys =
            target.isRedo
            ? try await defaults.redoPlan(target.references, options)
            : try await defaults.undoPlan(target.references, options)
        taken = keys.filter { $0.standing == .holds }
        forced = keys.filter { isForced && $0.standing == .changed }
        blocked = keys.filter { key in
            ![.holds, .void, .undone, .same].contains(key.standing)
                && !(isForced && key.standing == .changed)
        }
        // Of one key, the history has what was asked for, or nothing.
        incomplete =
            target.scope.key != nil
            ? [] : target.actions.filter { $0.knownKeyCount < $0.keyCount }
        newer = try await Self.newer(
            than: target, keys.filter { $0.standing == .changed }, defaults)
        passedKeys = try await Self.keys(of: target.passedOver.prefix(Self.mostNamed), defaults)
    }

    /// How many keys stand in the way.
    var blockedCount: Int {
        incomplete.reduce(blocked.count) { $0 + $1.keyCount - $1.knownKeyCount }
    }

    /// Whether anything would be changed.
    var isEmpty: Bool { taken.isEmpty && forced.isEmpty }

    /// Whether the same keys with the same values would be changed.
    func isSame(as other: TakingBackPlan) -> Bool {
        (taken + forced).elementsEqual(other.taken + other.forced) { one, other in
            one.domain == other.domain && one.key == other.key
                && one.standing == other.standing && one.now.isSame(as: other.now)
        }
    }

    /// How many actions are named one by one.
    private static let mostNamed = 5
    /// How many of the keys of an action are named.
    private static let mostKeys = 3

    /// Who has changed keys since.
    private static func newer(
        than target: TakingBackTarget, _ keys: [TakenBackKey], _ defaults: RemoteDefaults
    ) async throws -> [[String]: HistoryAction] {
        var newer: [[String]: HistoryAction] = [:]
        let own = Set(target.actions.map(\.number))
        for key in keys.prefix(Self.mostNamed * 4) {
            var query = HistoryQuery()
            (query.domain, query.key, query.limit) = (key.domain, key.key, 1)
            if let action = try await defaults.actions(query).actions.first,
                !own.contains(action.number)
            {
                newer[[key.domain, key.key]] = action
            }
        }
        return newer
    }

    private static func keys(
        of actions: some Sequence<HistoryAction>, _ defaults: RemoteDefaults
    ) async throws -> [UInt64: String] {
        var names: [UInt64: String] = [:]
        for action in actions {
            let changes = try await defaults.action(action.number).changes
            let named = changes.prefix(Self.mostKeys).map {
                "\($0.domain.onOneLine) \(WatchedChange.shown(key: $0.key))"
            }
            let rest = changes.count - named.count
            names[action.number] =
                named.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
        }
        return names
    }
}

// MARK: For people

extension TakingBackPlan {
    /// The lines that say what is changed, and what is not.
    ///
    /// - Parameter columns: The width of the terminal; nil outside one.
    func lines(columns: Int?) -> [String] {
        var lines = heading
        for key in taken where target.scope.shows(key.key, in: key.domain) {
            lines += words(of: key).lines(indentation: "  ", columns: columns)
        }
        if !forced.isEmpty { lines.append("Replaces what was changed since:") }
        for key in forced {
            lines += words(of: key).lines(indentation: "  ", columns: columns)
            if let action = newer[[key.domain, key.key]] {
                lines[lines.count - 1] += "  (over \(action.title))"
            }
        }
        if blockedCount > 0 { lines.append("In the way:") }
        lines += blocked.map { "  \(name(of: $0)): \(reason(of: $0))" }
        lines += incomplete.map { action in
            let count = action.keyCount - action.knownKeyCount
            return "  \(counted(count, "key")) of \(action.title): the history does not have what "
                + "\(agreeing(count, "it", "they")) had"
        }
        return lines + skipped
    }

    private var heading: [String] {
        let verb = target.isRedo ? "Makes again" : "Takes back"
        let actions = target.actions.withoutMovements
        func title(_ action: HistoryAction) -> String {
            let kind = action.kindWords.map { ", \($0)" } ?? ""
            let roams = action.kind == .roam ? ", and roams" : ""
            return "\(action.number) of \(action.time), \(action.who)\(kind)\(roams)"
        }
        if actions.count == 1 {
            return ["\(verb) \(title(actions[0])):"] + remarks
        }
        let named = actions.prefix(Self.mostNamed).map { "  \(title($0))" }
        let rest = actions.count - named.count
        return ["\(verb) \(counted(actions.count, "action")):"] + named
            + (rest > 0 ? ["  and \(rest) more"] : []) + remarks
            + (isEmpty ? [] : ["So these change:"])
    }

    /// What is to be known about the time to which it goes back.
    private var remarks: [String] {
        guard let time = target.time else { return [] }
        return target.actions.filter { $0.began < time }.map {
            "  \($0.number) had begun before that time, and is taken back as a whole"
        }
    }

    private func words(of key: TakenBackKey) -> ChangeWords {
        ChangeWords(domain: key.domain, key: key.key, was: key.now, became: key.target)
    }

    private func name(of key: TakenBackKey) -> String {
        "\(key.domain.onOneLine) \(WatchedChange.shown(key: key.key))"
    }

    private func reason(of key: TakenBackKey) -> String {
        switch key.standing {
        case .changed:
            "was changed since" + (newer[[key.domain, key.key]].map { " by \($0.title)" } ?? "")
        case .locked: "is locked by the administrator"
        case .unknown: "the history does not have its earlier value"
        default: key.standing.rawValue.onOneLine
        }
    }

    /// The newer actions that are left as they are.
    private var skipped: [String] {
        let named = target.passedOver.prefix(Self.mostNamed).map { action in
            let keys = passedKeys[action.number].map { $0.isEmpty ? "" : ": \($0)" } ?? ""
            return "Skips \(action.title)\(keys)"
        }
        let hint =
            target.passedOver.first.map {
                ["To take \($0.number) back: defaultsctl undo \($0.number)"]
            }
            ?? []
        let rest = target.passedOver.count - named.count
        return named + (rest > 0 ? ["Skips \(rest) more"] : []) + hint
    }
}
