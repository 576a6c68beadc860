import DefaultsClient

/// Who the writers of changes are, each connection asked for once.
struct WriterNames {
    /// How many are remembered; a connection of a program that makes one change is not seen again.
    private static let capacity = 1024

    private let defaults: RemoteDefaults
    private var known: [String: ChangeWriter] = [:]

    init(of defaults: RemoteDefaults) {
        self.defaults = defaults
    }

    /// - Parameter origin: The name of its connection; nil where that is not known, empty where the
    ///   change was nobody's call.
    /// - Returns: Nil where the daemon does not know, or does not tell.
    mutating func writer(of generation: UInt64, from origin: String?) async -> ChangeWriter? {
        if let origin, let writer = known[origin] { return writer }
        guard let writer = try? await defaults.writer(of: generation) else { return nil }
        if let origin, !origin.isEmpty {
            if known.count >= Self.capacity { known = [:] }
            known[origin] = writer
        }
        return writer
    }
}
