/// What keeps an application from getting what it asked for: something here, or a refusal of the
/// service.
///
/// ```swift
/// do {
///     try await defaults.commit { $0[.volume] = 0.5 }
/// } catch let error as ClientError where error.code == .locked {
///     show(error.message)
/// }
/// ```
public struct ClientError: Error, Hashable, CustomStringConvertible {
    /// Which one.
    public struct Code: Hashable, Sendable {
        private let name: String

        private init(_ name: String) {
            self.name = name
        }

        /// There is no bus, or no service on it, or it has not answered in time.
        public static let unreachable = Code("unreachable")
        /// The process was forked, and has no connection of its own.
        public static let forked = Code("forked")
        /// The layer cannot be written by applications.
        public static let notWritable = Code("notWritable")
        /// The administrator has locked the key.
        public static let locked = Code("locked")
        /// Another process has changed what was expected to be as it was.
        public static let conflict = Code("conflict")
        /// More changes wait to be sent than are kept in memory.
        public static let tooManyChanges = Code("tooManyChanges")
        /// What was to be read is not there.
        public static let notFound = Code("notFound")
        /// The domain or the key is not spelled as names are.
        public static let invalidName = Code("invalidName")
        /// A value, or what is read at once, is larger than the service takes or gives.
        public static let tooLarge = Code("tooLarge")
        /// The change is made, and the disk has not taken it yet: other programs see it, and the
        /// service tries again.
        public static let notDurable = Code("notDurable")
        /// The disk or the runtime directory refuses, and nothing was changed.
        public static let storageFailed = Code("storageFailed")
        /// The service refuses, for the reason that the message tells.
        public static let refused = Code("refused")
        /// A value is none of its key.
        public static let undecodable = Code("undecodable")
        /// The database is of a later version of the application.
        public static let newerVersion = Code("newerVersion")
    }

    /// Which one.
    public let code: Code
    /// A sentence for people: what, which, why, and what to do.
    ///
    /// It never holds a value.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The sentence.
    public var description: String { message }
}

extension ClientError {
    /// Whether what was expected did not hold.
    static func isConflict(_ error: any Error) -> Bool {
        (error as? ClientError)?.code == .conflict
    }
}
