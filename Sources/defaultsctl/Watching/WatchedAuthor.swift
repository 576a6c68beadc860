import DefaultsClient

/// Who has made a change, as far as that is known.
enum WatchedAuthor {
    /// The process, which the daemon that runs has seen.
    case process(ChangeWriter)
    /// The action in the history.
    case action(HistoryAction)

    /// The words for people.
    var words: String {
        switch self {
        case .process(let writer): "\(writer.name.onOneLine) \(writer.process)"
        case .action(let action): "\(action.who), action \(action.number)"
        }
    }

    /// The members of a JSON object.
    var members: [(String, String)] {
        get throws {
            switch self {
            case .process(let writer):
                let facts = [
                    ("name", try writer.name.quoted), ("executable", try writer.executable.quoted),
                    ("process", "\(writer.process)"),
                ]
                return [("writer", try ShownJSON.object(facts))]
            case .action(let action):
                let name = try ShownJSON.object([("name", action.author.program.quoted)])
                return [("writer", name), ("action", "\(action.number)")]
            }
        }
    }
}

/// The authors of changes.
///
/// Each connection is looked up once.
struct WatchedAuthors {
    /// How many are remembered.
    ///
    /// A program that makes a single change is not seen again.
    private static let capacity = 1024

    private let defaults: RemoteDefaults
    private var known: [String: ChangeWriter] = [:]

    init(of defaults: RemoteDefaults) {
        self.defaults = defaults
    }

    /// - Parameters:
    ///   - key: The key that was changed.
    ///   - domain: Its domain, with the suffix of the layer.
    ///   - origin: The bus name of the connection; nil if it is unknown, empty if no call
    ///     has made the change.
    /// - Returns: Nil if the daemon does not know or does not say.
    mutating func author(
        of generation: UInt64, of key: String, in domain: String, from origin: String?
    ) async -> WatchedAuthor? {
        if let origin, let writer = known[origin] { return .process(writer) }
        guard let writer = try? await defaults.writer(of: generation) else {
            return await action(of: generation, of: key, in: domain)
        }
        if let origin, !origin.isEmpty {
            if known.count >= Self.capacity { known = [:] }
            known[origin] = writer
        }
        return .process(writer)
    }

    /// The action in the history that has made a change.
    ///
    /// It is asked for only if no process is known, as after a start of the daemon, because reading the
    /// history makes the daemon write to the disk.
    private func action(
        of generation: UInt64, of key: String, in domain: String
    ) async -> WatchedAuthor? {
        var query = HistoryQuery()
        (query.domain, query.key, query.limit) = (domain, key, 1)
        let found = try? await defaults.actions(query).actions.first
        guard let action = found ?? nil,
            action.firstGeneration...max(action.firstGeneration, action.lastGeneration)
                ~= generation
        else { return nil }
        return .action(action)
    }
}
