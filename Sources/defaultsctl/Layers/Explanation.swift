import DefaultsClient
import DefaultsProtocol
import DefaultsTerms
@preconcurrency import Glibc
import KeyedArchive
import OwnedDocuments

/// The layers that have a key, and their values.
struct Explanation {
    let domain: String
    let key: String
    /// The layers that have the key or lock it, the strongest first.
    private var layers: [(entry: LayerEntry, value: KeyedArchive?, changed: UInt64?)] = []
    /// The action that has set the value that applies; nil if that is unknown.
    private var action: HistoryAction?
    /// What an installed schema says about the key; nil if none has it.
    private let schema: SchemaNote?
    /// The owners of documents that have set the user's own values, with the domain of the layer.
    private var owners: [String] = []

    /// Gets the information from the service.
    ///
    /// - Parameter largest: The largest value to read, in bytes.
    /// - Throws: `ToolError` if no layer has the key or locks it, and no schema has it.
    init(
        of key: String, in domain: String, largest: UInt64 = .max,
        asking defaults: RemoteDefaults
    ) async throws {
        (self.key, self.domain) = (key, domain)
        schema = SchemaNote(of: key, in: domain)
        do {
            for entry in try await defaults.explain(key, in: domain) {
                let isRead = entry.hasValue && entry.size <= largest
                let value = isRead ? try await value(of: entry, from: defaults) : nil
                layers.append((entry, value, try await changeTime(of: entry, from: defaults)))
            }
        } catch let error as DefaultsError where error.code == .notFound {
            layers = []
        }
        action = await lastAction(from: defaults)
        let owned = try await OwnedKeys(of: defaults)
        for layer in [domain, LayerName.host.spelling(of: domain)] {
            owners += owned.owners(of: KeyPlace(domain: layer, key: key)).map(\.name)
        }
        owners = Set(owners).sorted()
        guard layers.isEmpty, schema == nil, owners.isEmpty else { return }
        guard let meant = SchemaFolder(of: key, in: domain)?.nearestKey else {
            throw await defaults.noPair(domain, key, amongEffective: true)
        }
        throw ToolError.noPair(domain, key, meant: meant)
    }

    /// The value of a layer; nil if it cannot be read, or was removed meanwhile.
    private func value(
        of entry: LayerEntry, from defaults: RemoteDefaults
    ) async throws -> KeyedArchive? {
        guard let layer = entry.layer.domain(of: domain) else { return nil }
        do {
            return try await defaults.archiveIfThere(forKey: key, in: layer).archive
        } catch let error where error.ofContract is ContractError || error is ArchiveError {
            // If one value is damaged, the other layers are still shown.
            return nil
        }
    }

    /// When the value of a layer of the user was last changed, in seconds since 1970; nil if that is
    /// unknown.
    ///
    /// The value of a file is as old as the file.
    private func changeTime(
        of entry: LayerEntry, from defaults: RemoteDefaults
    ) async throws -> UInt64? {
        guard entry.hasValue, entry.source.isEmpty, let layer = entry.layer.domain(of: domain)
        else {
            return nil
        }
        return try await defaults.changeTimes(of: [key], in: layer)?.first?.time
    }

    /// The last action in the history that has changed the value that applies.
    ///
    /// - Returns: Nil if the value comes from a file, was changed when there was no history, or if the service
    ///   does not tell: it is an earlier one, or its disk is full.
    private func lastAction(from defaults: RemoteDefaults) async -> HistoryAction? {
        guard let holder, let changed = layers[holder].changed,
            let layer = layers[holder].entry.layer.domain(of: domain)
        else { return nil }
        var query = HistoryQuery()
        (query.domain, query.key, query.limit) = (layer, key, 1)
        guard let action = try? await defaults.actions(query).actions.first else { return nil }
        // The clock may have gone on between the change and its action.
        let times = (action.began - 1)...(max(action.began, action.ended) + 1)
        return times.contains(Int64(clamping: changed)) ? action : nil
    }

    /// The index of the layer whose value applies; nil if no layer has a value.
    private var holder: Int? { layers.firstIndex { $0.entry.hasValue } }
    private var isLocked: Bool { layers.contains(where: \.entry.isLocked) }
}

// MARK: Text

extension Explanation {
    /// The largest value that is shown in a line, in bytes.
    static let largestShown: UInt64 = 64 << 10
    private static let narrowestValue = 16
    private static let widestValueInPipe = 60

    /// A line for each layer, with a mark at the one that applies, for people.
    func text(hasISODates: Bool) -> String {
        var columns = Columns(areNumbers: [false, false, false, false, false])
        columns.rows = layers.indices.map { place in
            let (entry, value, _) = layers[place]
            return [
                place == holder ? "->" : "", entry.layer.rawValue.onOneLine,
                Self.words(for: value, of: entry, hasISODates: hasISODates),
                entry.isLocked ? "locked" : "",
                entry.source.onOneLine,
            ]
        }
        let widest = widestValue(in: columns)
        for place in columns.rows.indices {
            columns.rows[place][2] = columns.rows[place][2].cut(to: widest)
        }
        let lines = columns.lines.map { line in
            String(line.reversed().drop { $0 == " " }.reversed())
        }
        let remarks = [remark, timeRemark, ownerRemark, schema?.text].compactMap(\.self)
        return (lines + remarks).joined(separator: "\n")
    }

    /// What it means that there is no layer, or a lock without a value.
    private var remark: String? {
        if layers.isEmpty {
            return schema == nil
                ? "No layer has a value."
                : "No layer has a value, so programs use the schema's default."
        }
        guard let lock = layers.first(where: \.entry.isLocked), !lock.entry.hasValue else {
            return nil
        }
        return holder == nil
            ? "It is locked without a value: there is no value, and none can be set."
            : "It is locked without a value: the current value stays and cannot be changed."
    }

    /// Whose document has set it.
    private var ownerRemark: String? {
        owners.isEmpty ? nil : "Owned by the document of \(owners.joined(separator: " and "))."
    }

    /// When the value that applies was last changed, if that is known.
    private var timeRemark: String? {
        let by =
            action.map { "\($0.isAuthorKnown ? " by \($0.who)" : ""), action \($0.number)" } ?? ""
        return holder.flatMap { layers[$0].changed }.map {
            "Last changed \(LocalTime($0).text)\(by)."
        }
    }

    /// The room for a value, so that a line fits the terminal.
    private func widestValue(in columns: Columns) -> Int {
        guard Defaultsctl.console.isTerminal(.output) else { return Self.widestValueInPipe }
        let others = [0, 1, 3, 4].map { column in columns.rows.map { $0[column].count }.max() ?? 0 }
        // Each column but the first has two spaces before it, and a value that is cut has a mark
        // after it.
        let room = Defaultsctl.console.columns(of: .output) - others.reduce(4 * 2 + 1, +)
        return max(Self.narrowestValue, room)
    }

    private static func words(
        for value: KeyedArchive?, of entry: LayerEntry, hasISODates: Bool
    ) -> String {
        guard entry.hasValue else { return "-" }
        guard let value else { return Amount.bytes(entry.size) }
        return (try? value.shown().jsonText(hasISODates: hasISODates)).map(ShownJSON.text)
            ?? "a value that cannot be shown"
    }
}

// MARK: JSON

extension Explanation {
    func json(hasISODates: Bool) throws -> String {
        let objects = try layers.map { entry, value, changed in
            var members = [
                ("layer", try entry.layer.rawValue.quoted),
                ("file", entry.source.isEmpty ? "null" : try entry.source.quoted),
                ("locked", "\(entry.isLocked)"), ("size", "\(entry.size)"),
            ]
            if let changed {
                members.append(("changed", try UniversalTime(changed).text.quoted))
            }
            if let value {
                do {
                    members.append(("value", try value.jsonText(hasISODates: hasISODates)))
                } catch let error as ArchiveError {
                    members.append(("valueError", try "\(error)".quoted))
                }
            }
            return try ShownJSON.object(members)
        }
        let schema = try schema.map { ("schema", try $0.json()) }
        let names = try owners.map { try $0.quoted }.joined(separator: ",")
        let owned = owners.isEmpty ? nil : ("owners", "[\(names)]")
        let members = [
            ("domain", try domain.quoted), ("key", try key.quoted), ("locked", "\(isLocked)"),
            ("holds", try holder.map { try layers[$0].entry.layer.rawValue.quoted } ?? "null"),
            ("layers", "[\(objects.joined(separator: ","))]"),
        ]
        let lastAction = try action.map { ("lastAction", try Self.json($0)) }
        return try ShownJSON.object(members + [lastAction, owned, schema].compactMap(\.self))
    }

    private static func json(_ action: HistoryAction) throws -> String {
        try ShownJSON.object([
            ("number", "\(action.number)"), ("program", action.author.program.quoted),
            ("application", action.author.application.quoted),
            ("machine", action.author.machine.quoted), ("owner", action.author.owner.quoted),
            ("kind", action.kind.rawValue.quoted),
        ])
    }
}
