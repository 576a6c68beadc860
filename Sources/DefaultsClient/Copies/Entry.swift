import DefaultsProtocol
import DefaultsTerms

/// A value that a process has a copy of, or knows to be there.
///
/// Used under the lock of its service (`@unchecked Sendable`): what is known of its reading changes, the
/// content never does.
final class Entry: @unchecked Sendable {
    /// Where the value is.
    enum Content {
        /// Here: the bytes of the archive.
        case archive([UInt8])
        /// At the service, as it is large: it is fetched each time when it is read.
        case large
        /// On the command line, whose words have no types.
        case argument(String)
    }

    let content: Content
    /// The value as the key that was last asked for has it: a ``Decoded`` of its type.
    var decoded: AnyDecoded?
    /// Whether the application has been told that this is no value of its key.
    var isReported = false
    /// The key type that set this value in this process; nil if the value was read.
    var writer: ObjectIdentifier?
    /// The last key that could not read the value, which has given its default instead.
    var unread: Unread?

    /// A value that the application has asked for and was not given.
    struct Unread {
        /// The class of values of the key.
        let reader: ObjectIdentifier
        /// The archive, which is not one of the key's type; nil for a large value, if the service could
        /// not be reached.
        let bytes: [UInt8]?
    }

    /// What a new value replaces though its key could not read it.
    func unread(replacedBy entry: Entry) -> Unread? {
        unread?.reader == entry.writer ? unread : nil
    }

    init(_ content: Content) {
        self.content = content
    }

    /// The bytes that are held here.
    var size: Int {
        if case .archive(let bytes) = content { bytes.count } else { 0 }
    }

    /// Whether it is so large that the service only names it, and does not send it with others.
    var isLarge: Bool { size > ContractLimits.maximumBulkEntrySize }

    /// Whether two are the same value, byte by byte; a large one is like no other.
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
    /// Whether both are the same value, or both none.
    func isSame(as other: Entry?) -> Bool {
        switch (self, other) {
        case (nil, nil): true
        case (let one?, let two?): one.isSame(as: two)
        default: false
        }
    }
}

/// A decoded value without its type.
///
/// It never changes, and is kept only where the value may be given to all threads.
@usableFromInline
class AnyDecoded: @unchecked Sendable {}

/// A decoded value.
@usableFromInline
final class Decoded<Value>: AnyDecoded, @unchecked Sendable {
    @usableFromInline let value: Value

    init(_ value: Value) {
        self.value = value
    }
}

/// The changes that others have made to one layer since it was read, as far as signals report them.
struct ForeignChanges {
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
