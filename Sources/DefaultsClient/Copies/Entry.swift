import DefaultsProtocol
import DefaultsTerms
import Synchronization

/// A value that a process has a copy of, or of which it knows that the service has it.
final class Entry: Sendable {
    /// Where the value is.
    enum Content: Sendable {
        /// Here: the bytes of the archive.
        case archive([UInt8])
        /// At the service, because it is large. It is fetched at each read.
        case large
        /// On the command line, whose words have no types.
        case argument(String)
    }

    /// What this process has found when it read the value.
    private struct Findings {
        var decoded: AnyDecoded?
        var isReported = false
        var unread: Unread?
    }

    /// A value that the application has read and did not get.
    struct Unread: Sendable {
        /// The class of values of the key.
        let reader: ObjectIdentifier
        /// The archive, which is not one of the key's type; nil for a large value, if the service could
        /// not be reached.
        let bytes: [UInt8]?
    }

    let content: Content
    /// The key type that set this value in this process; nil if the value was read.
    private let writer: ObjectIdentifier?
    /// A lock of its own, which is taken after the service's if both are: each finding is about this
    /// value alone.
    private let findings: Mutex<Findings>

    /// - Parameters:
    ///   - content: Where the value is.
    ///   - writer: The key type that sets the value; nil if the value was read.
    ///   - decoded: The value, if all readers may have the same.
    init(_ content: Content, writer: ObjectIdentifier? = nil, decoded: AnyDecoded? = nil) {
        self.content = content
        self.writer = writer
        findings = Mutex(Findings(decoded: decoded))
    }

    /// The value as the last key that read it has it: a ``Decoded`` of its type.
    var decoded: AnyDecoded? { findings.withLock { $0.decoded } }

    func keep(_ decoded: AnyDecoded) {
        findings.withLock { $0.decoded = decoded }
    }

    /// Whether it is still to be reported that a key cannot read this value; true once.
    func takeReport() -> Bool {
        findings.withLock { findings in
            defer { findings.isReported = true }
            return !findings.isReported
        }
    }

    /// Notes that a key could not read the value and has given its default instead.
    func noteUnread(_ unread: Unread) {
        findings.withLock { $0.unread = unread }
    }

    /// Notes that a key has read the value after all.
    func noteRead(by reader: ObjectIdentifier) {
        findings.withLock { if $0.unread?.reader == reader { $0.unread = nil } }
    }

    /// What a new value replaces although its key could not read it.
    func unread(replacedBy entry: Entry) -> Unread? {
        findings.withLock { $0.unread?.reader == entry.writer ? $0.unread : nil }
    }

    /// How many bytes of the archive are here.
    var size: Int {
        if case .archive(let bytes) = content { bytes.count } else { 0 }
    }

    /// Whether it is so large that the service does not send it with others.
    var isLarge: Bool { size > ContractLimits.maximumBulkEntrySize }

    /// Whether two values have the same bytes; false for large values, whose bytes are not known.
    func isSame(as other: Entry) -> Bool {
        if self === other { return true }
        return switch (content, other.content) {
        case (.archive(let bytes), .archive(let others)): bytes == others
        case (.argument(let text), .argument(let other)): text == other
        default: false
        }
    }
}

extension Entry? {
    /// Whether both are the same value, or both nil.
    func isSame(as other: Entry?) -> Bool {
        switch (self, other) {
        case (nil, nil): true
        case (let one?, let two?): one.isSame(as: two)
        default: false
        }
    }
}

/// The changes that others have made to one layer since it was read, as far as signals report them.
struct ForeignChanges: Sendable {
    private(set) var generation: UInt64 = 0
    /// The keys; nil if they are too many, or unknown.
    private var names: Set<KeyName>? = []

    private static let mostNames = 1024

    mutating func add(_ change: ChangedSignal) {
        generation = max(generation, change.generation)
        let added = (change.changed + change.removed).map(KeyName.init)
        guard let known = names, !added.isEmpty, known.count + added.count <= Self.mostNames else {
            names = nil
            return
        }
        names = known.union(added)
    }

    /// Notes a change whose keys are unknown, and whose generation is this one or an earlier one.
    mutating func addUnread(by generation: UInt64) {
        self.generation = max(self.generation, generation)
        names = nil
    }

    func mayHave(_ name: KeyName) -> Bool {
        names?.contains(name) ?? true
    }
}
