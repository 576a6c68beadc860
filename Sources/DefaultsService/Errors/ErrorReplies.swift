public import DBus
public import DefaultsModel
import DefaultsProtocol
public import DefaultsStorage
public import KeyedArchive

/// The one table from the errors of the modules below to those of the contract.
extension DefaultsError {
    init(_ error: ModelError) {
        let code: Code =
            switch error.code {
            case .invalidDomain: .invalidDomain
            case .invalidKey: .invalidKey
            default: .invalidArguments
            }
        self.init(code, error.description)
    }

    init(_ error: ArchiveError) {
        self.init(.invalidArchive, error.description)
    }

    init(_ error: StorageError) {
        let isTooLarge = error.code == .keyNamesTooLarge || error.code == .changeTooLarge
        self.init(isTooLarge ? .tooLarge : .storageFailed, error.description)
    }
}

/// A name or an argument that is refused is told by the contract's name for it.
extension ModelError: ErrorReply {
    /// `InvalidDomain`, `InvalidKey` or `InvalidArgs`.
    public var errorName: ErrorName { DefaultsError(self).errorName }
    /// The sentence for people.
    public var errorMessage: String { description }
}

/// An archive that is refused is told by the contract's name for it.
extension ArchiveError: ErrorReply {
    /// `InvalidArchive`.
    public var errorName: ErrorName { DefaultsError(self).errorName }
    /// The sentence for people.
    public var errorMessage: String { description }
}

/// What the disk refuses is told by the contract's name for it.
extension StorageError: ErrorReply {
    /// `StorageFailed`, or `TooLarge` where it is for the size of what was to be stored.
    public var errorName: ErrorName { DefaultsError(self).errorName }
    /// The sentence for people.
    public var errorMessage: String { description }
}
