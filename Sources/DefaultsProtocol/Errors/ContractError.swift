package import DBus

/// An error of the contract, with a message for people.
///
/// The message says what was refused and why, and what to do. It never contains a value.
package struct ContractError: ErrorReply, Hashable, CustomStringConvertible {
    /// The kind of error.
    ///
    /// The contract has a name for each of them.
    package struct Code: Hashable, Sendable {
        /// The name on the bus.
        package let errorName: ErrorName

        private init(_ errorName: ErrorName) {
            self.errorName = errorName
        }

        /// What the caller wants to read does not exist.
        package static let notFound = Code("org.defaultsd.Defaults1.Error.NotFound")
        /// The domain is not valid.
        package static let invalidDomain = Code("org.defaultsd.Defaults1.Error.InvalidDomain")
        /// The key is not valid.
        package static let invalidKey = Code("org.defaultsd.Defaults1.Error.InvalidKey")
        /// The bytes are not a valid keyed archive.
        package static let invalidArchive = Code("org.defaultsd.Defaults1.Error.InvalidArchive")
        /// The requested form cannot carry what the archive contains.
        package static let notRepresentable = Code("org.defaultsd.Defaults1.Error.NotRepresentable")
        /// A value, a reply or the names of a domain would be above a limit.
        package static let tooLarge = Code("org.defaultsd.Defaults1.Error.TooLarge")
        /// The administrator has locked the key, or the layer is read only.
        package static let locked = Code("org.defaultsd.Defaults1.Error.Locked")
        /// Something has changed that the caller expected to be unchanged.
        package static let conflict = Code("org.defaultsd.Defaults1.Error.Conflict")
        /// The disk or the runtime directory refused the change, and nothing was changed.
        ///
        /// If a restoration stopped half-way, the message says what was restored.
        package static let storageFailed = Code("org.defaultsd.Defaults1.Error.StorageFailed")
        /// The change is visible and in the crash journal, but not on disk yet.
        package static let notDurable = Code("org.defaultsd.Defaults1.Error.NotDurable")
        /// An argument has the wrong type or form.
        package static let invalidArguments = Code("org.freedesktop.DBus.Error.InvalidArgs")

        /// The change would exceed a bound of a domain, an application or a program, and nothing was
        /// changed.
        package static let limitsExceeded = Code("org.freedesktop.DBus.Error.LimitsExceeded")

        /// The caller may not do this.
        package static let accessDenied = Code("org.freedesktop.DBus.Error.AccessDenied")

        static let all: [Code] = [
            .notFound, .invalidDomain, .invalidKey, .invalidArchive, .notRepresentable,
            .tooLarge, .locked, .conflict, .storageFailed, .notDurable, .invalidArguments,
            .limitsExceeded, .accessDenied,
        ]
    }

    /// The kind of error.
    package let code: Code
    /// The message for people.
    package let message: String
    /// The locked keys that a refused change has named, for ``Code/locked``.
    package let locked: [LockedKeys]

    /// Makes an error.
    package init(_ code: Code, _ message: String, locked: [LockedKeys] = []) {
        self.code = code
        self.message = message
        self.locked = locked
    }

    /// What a refused change says about the other keys of its call.
    package enum Remark: String, CaseIterable, Sendable {
        case nothingChanged = "Nothing was changed."
        case readAgain = "Nothing was changed; read again."
    }

    /// An error for a change that was not made.
    package init(_ code: Code, _ fact: String, _ remark: Remark, locked: [LockedKeys] = []) {
        self.init(code, "\(fact) \(remark.rawValue)", locked: locked)
    }

    /// The message without its remark, for a program that has made other changes.
    package var fact: String {
        let remark = Remark.allCases.first { message.hasSuffix(" \($0.rawValue)") }
        return remark.map { String(message.dropLast($0.rawValue.count + 1)) } ?? message
    }

    /// Makes the error that a service replied with; nil if it is not an error of the contract.
    package init?(_ error: DBusError) {
        guard let code = Code.all.first(where: { $0.errorName == error.name }) else { return nil }
        let locked = code == .locked ? error.details.first.flatMap(LockedKeys.list) : nil
        self.init(code, error.message, locked: locked ?? [])
    }

    /// The name on the bus.
    package var errorName: ErrorName { code.errorName }
    /// The message for people.
    package var errorMessage: String { message }
    /// The locked keys, for programs.
    package var errorDetails: [Value] { code == .locked ? [LockedKeys.value(of: locked)] : [] }
    /// The message for people.
    package var description: String { message }
}
