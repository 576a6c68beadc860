public import DBus

/// A refusal that the contract names, with a sentence for people.
///
/// The sentence says what was refused, which one, why, and what to do; it never holds a value.
public struct DefaultsError: ErrorReply, Hashable, CustomStringConvertible {
    /// Which refusal; one for each error name of the contract.
    public struct Code: Hashable, Sendable {
        /// The name on the bus.
        public let errorName: ErrorName

        private init(_ errorName: ErrorName) {
            self.errorName = errorName
        }

        /// What was to be read is not there.
        public static let notFound = Code("org.defaultsd.Defaults1.Error.NotFound")
        /// The domain is not spelled as the contract has it.
        public static let invalidDomain = Code("org.defaultsd.Defaults1.Error.InvalidDomain")
        /// The key is not spelled as the contract has it.
        public static let invalidKey = Code("org.defaultsd.Defaults1.Error.InvalidKey")
        /// The bytes are not one keyed archive.
        public static let invalidArchive = Code("org.defaultsd.Defaults1.Error.InvalidArchive")
        /// The archive holds what the form that was asked for cannot carry.
        public static let notRepresentable = Code("org.defaultsd.Defaults1.Error.NotRepresentable")
        /// A value, a reply or the names of a domain would be larger than promised.
        public static let tooLarge = Code("org.defaultsd.Defaults1.Error.TooLarge")
        /// The layer or the key belongs to the administrator.
        public static let locked = Code("org.defaultsd.Defaults1.Error.Locked")
        /// What the caller expected no longer holds.
        public static let conflict = Code("org.defaultsd.Defaults1.Error.Conflict")
        /// The disk or the runtime directory refused, and nothing was changed.
        ///
        /// Of a restoration that stopped half-way the message says what was restored.
        public static let storageFailed = Code("org.defaultsd.Defaults1.Error.StorageFailed")
        /// The change is visible and in the crash journal, but not on disk yet.
        public static let notDurable = Code("org.defaultsd.Defaults1.Error.NotDurable")
        /// An argument is of the wrong type or form.
        public static let invalidArguments = Code("org.freedesktop.DBus.Error.InvalidArgs")

        /// The caller may not do this.
        public static let accessDenied = Code("org.freedesktop.DBus.Error.AccessDenied")

        static let all: [Code] = [
            .notFound, .invalidDomain, .invalidKey, .invalidArchive, .notRepresentable,
            .tooLarge, .locked, .conflict, .storageFailed, .notDurable, .invalidArguments,
            .accessDenied,
        ]
    }

    /// Which refusal.
    public let code: Code
    /// The sentence for people.
    public let message: String

    /// A refusal with its sentence.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// What a refused change says of the other keys of its call.
    public enum Remark: String, CaseIterable, Sendable {
        case nothingChanged = "Nothing was changed."
        case readAgain = "Nothing was changed; read again."
    }

    /// A refusal of a change, of which nothing was made.
    public init(_ code: Code, _ fact: String, _ remark: Remark) {
        self.init(code, "\(fact) \(remark.rawValue)")
    }

    /// The sentence without its remark: what a program tells that has made other changes.
    public var fact: String {
        let remark = Remark.allCases.first { message.hasSuffix(" \($0.rawValue)") }
        return remark.map { String(message.dropLast($0.rawValue.count + 1)) } ?? message
    }

    /// The refusal that a service answered with, or nil where the error is not of the contract.
    public init?(_ error: DBusError) {
        guard let code = Code.all.first(where: { $0.errorName == error.name }) else { return nil }
        self.init(code, error.message)
    }

    /// The name on the bus.
    public var errorName: ErrorName { code.errorName }
    /// The sentence for people.
    public var errorMessage: String { message }
    /// The sentence for people.
    public var description: String { message }
}
