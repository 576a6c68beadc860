/// What is wrong with a file of a layer: where and why.
///
/// It is a sentence for the log and for `defaultsctl lint`, and never contains a stored value.
public struct LayerProblem: Error, Hashable, Sendable {
    /// The kind of the problem, for programs.
    public struct Code: Hashable, Sendable {
        /// The code's name, for messages and tests.
        public let name: String

        /// The file is not there, or no longer.
        public static let notFound = Code(name: "notFound")
        /// The file or the directory cannot be read.
        public static let unreadable = Code(name: "unreadable")
        /// The system has not what reading it takes, for now: a descriptor, or memory.
        public static let noMeans = Code(name: "noMeans")
        /// The places cannot be watched.
        public static let notWatched = Code(name: "notWatched")
        /// Something is larger than is allowed.
        public static let tooLarge = Code(name: "tooLarge")
        /// The name of a file or a directory is that of no domain.
        public static let badName = Code(name: "badName")
        /// The bytes are neither JSON nor a property list.
        public static let syntax = Code(name: "syntax")
        /// A name is that of no key.
        public static let badKey = Code(name: "badKey")
        /// What is locked is not told as it must be, or may not be told there.
        public static let badLock = Code(name: "badLock")
        /// No archive can be made of a value.
        public static let badValue = Code(name: "badValue")

        // Those of remarks alone.

        /// A key stands twice in one dictionary of a property list in XML, and the last one counts.
        public static let repeatedKey = Code(name: "repeatedKey")
        /// A lock changes nothing.
        public static let idleLock = Code(name: "idleLock")
        /// A domain has a main file of each form in one place.
        public static let twoMainFiles = Code(name: "twoMainFiles")
        /// A directory of drop-ins has none.
        public static let noDropIns = Code(name: "noDropIns")
        /// The name is that of the global domain in another case.
        public static let likeGlobalDomain = Code(name: "likeGlobalDomain")
        /// Not every user can read it.
        public static let notForAllUsers = Code(name: "notForAllUsers")
        /// Others than the owner can write it.
        public static let writable = Code(name: "writable")
    }

    /// The kind of the problem.
    public let code: Code
    /// The file or the directory.
    public let path: String
    /// The line, counted from 1, where it is known.
    public let line: Int?
    /// The column in that line, counted from 1 in characters of Unicode (code points), where it is
    /// known.
    public let column: Int?
    /// A sentence that says what is wrong.
    public let reason: String

    init(_ code: Code, _ path: String, at place: (line: Int, column: Int)? = nil, _ reason: String)
    {
        self.code = code
        self.path = path
        line = place?.line
        column = place?.column
        self.reason = reason
    }
}

extension LayerProblem: CustomStringConvertible {
    /// `PATH:LINE:COLUMN: reason`, without what is not known.
    public var description: String {
        let place = [line, column].compactMap { $0 }.map { ":\($0)" }.joined()
        return "\(path)\(place): \(reason)"
    }
}
