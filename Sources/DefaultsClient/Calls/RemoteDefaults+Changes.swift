import DBus
import DefaultsProtocol
import DefaultsTerms

/// What a watcher of the daemon is told.
public enum ChangeNotice: Sendable, Hashable {
    /// One change was made.
    case change(DefaultsChange)
    /// More changes came than were taken: read again what you hold.
    case missed
}

/// One change as the signal `Changed` tells it: names, never values.
public struct DefaultsChange: Sendable, Hashable {
    /// The domain, without a suffix.
    public let domain: String
    /// The layer: `domain`, `host`, `managed` or `system`.
    public let layer: String
    /// The keys that have another value now.
    public let changed: [String]
    /// The keys that are gone.
    public let removed: [String]
    /// The generation of the change.
    public let generation: UInt64
    /// The unique bus name of the writer.
    public let origin: String

    /// The domain as a call takes it, with the suffix of the layer.
    public var domainWithLayer: String {
        LayerName(rawValue: layer)?.spelling(of: domain) ?? domain + LayerName.separator + layer
    }
}

extension RemoteDefaults {
    /// How many changes are kept for a watcher that is slow.
    private static let bufferedChanges = 1024

    /// Follows the changes of one domain, in all its layers, or of all domains.
    ///
    /// The watch has begun when this returns. A watcher that does not keep up is told so by
    /// ``ChangeNotice/missed``.
    ///
    /// - Parameter domain: The name of a domain, without a suffix; nil for all.
    public func changes(
        in domain: String? = nil
    ) async throws -> some AsyncSequence<ChangeNotice, any Error> & Sendable {
        let rule = ChangedSignal.rule(from: Contract.busName, of: domain)
        let signals = try await connection.signals(rule, limit: Self.bufferedChanges)
        return signals.map { element in
            switch element {
            case .signal(let signal): .change(DefaultsChange(try ChangedSignal(signal)))
            case .overflow: .missed
            }
        }
    }
}

extension DefaultsChange {
    init(_ signal: ChangedSignal) {
        self.init(
            domain: signal.domain, layer: signal.layer, changed: signal.changed,
            removed: signal.removed, generation: signal.generation, origin: signal.origin)
    }
}
