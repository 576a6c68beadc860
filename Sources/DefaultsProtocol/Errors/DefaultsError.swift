package import DBus

/// A refusal that the contract names, with a sentence for people.
///
/// The sentence says what was refused, why, and what to do. It never contains a value.
package struct DefaultsError: ErrorReply, Hashable, CustomStringConvertible {
    /// Which refusal; one for each error name of the contract.
    package struct Code: Hashable, Sendable {
        /// The name on the bus.
        package let errorName: ErrorName

        private init(_ errorName: ErrorName) {
            self.errorName = errorName
        }

        /// There is no such value, key or domain.
        package static let notFound = Code("org.defaultsd.Defaults1.Error.NotFound")
        /// The name of the domain is invalid.
        package static let invalidDomain = Code("org.defaultsd.Defaults1.Error.InvalidDomain")
        /// The name of the key is invalid.
        package static let invalidKey = Code("org.defaultsd.Defaults1.Error.InvalidKey")
        /// The bytes are not one keyed archive.
        package static let invalidArchive = Code("org.defaultsd.Defaults1.Error.InvalidArchive")
        /// The archive contains something that the requested form cannot represent.
        package static let notRepresentable = Code("org.defaultsd.Defaults1.Error.NotRepresentable")
        /// A value, a reply or the names of a domain would exceed a limit.
        package static let tooLarge = Code("org.defaultsd.Defaults1.Error.TooLarge")
        /// The layer or the key belongs to the administrator.
        package static let locked = Code("org.defaultsd.Defaults1.Error.Locked")
        /// A value is not in the state that the caller expected.
        package static let conflict = Code("org.defaultsd.Defaults1.Error.Conflict")
        /// The disk or the runtime directory failed, and nothing was changed.
        ///
        /// If a restoration has failed halfway, the message says what was restored.
        package static let storageFailed = Code("org.defaultsd.Defaults1.Error.StorageFailed")
        /// The change is visible and in the crash journal, but not on disk yet.
        package static let notDurable = Code("org.defaultsd.Defaults1.Error.NotDurable")
        /// An argument is of the wrong type or form.
        package static let invalidArguments = Code("org.freedesktop.DBus.Error.InvalidArgs")

        /// The caller may not do this.
        package static let accessDenied = Code("org.freedesktop.DBus.Error.AccessDenied")

        static let all: [Code] = [
            .notFound, .invalidDomain, .invalidKey, .invalidArchive, .notRepresentable,
            .tooLarge, .locked, .conflict, .storageFailed, .notDurable, .invalidArguments,
            .accessDenied,
        ]
    }

    /// Which refusal.
    package let code: Code
    /// The sentence for people.
    package let message: String

    /// A refusal with its sentence.
    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// What the message of a refused change says about the whole call.
    package enum Remark: String, CaseIterable, Sendable {
        case nothingChanged = "Nothing was changed."
        case readAgain = "Nothing was changed; read again."
    }

    /// A refusal of a whole change.
    package init(_ code: Code, _ fact: String, _ remark: Remark) {
        self.init(code, "\(fact) \(remark.rawValue)")
    }

    /// The sentence without its remark, for a program that has made other changes.
    package var fact: String {
        let remark = Remark.allCases.first { message.hasSuffix(" \($0.rawValue)") }
        return remark.map { String(message.dropLast($0.rawValue.count + 1)) } ?? message
    }

    /// The refusal in an error of the bus; nil if the error is not of the contract.
    package init?(_ error: DBusError) {
        guard let code = Code.all.first(where: { $0.errorName == error.name }) else { return nil }
        self.init(code, error.message)
    }

    /// The name on the bus.
    package var errorName: ErrorName { code.errorName }
    /// The sentence for people.
    package var errorMessage: String { message }
    /// The sentence for people.
    package var description: String { message }
}
