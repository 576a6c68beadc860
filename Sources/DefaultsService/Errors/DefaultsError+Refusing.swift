import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import KeyedArchive

extension DefaultsError {
    /// The one table from the errors of the modules below to those of the contract; nil for an
    /// error that the contract has no name for.
    init?(refusing error: any Error) {
        switch error {
        case let error as DefaultsError: self = error
        case let error as ModelError: self.init(Self.code(of: error.code), error.description)
        case let error as ArchiveError: self.init(.invalidArchive, error.description)
        case let error as StorageError: self.init(Self.code(of: error.code), error.description)
        default: return nil
        }
    }

    private static func code(of code: ModelError.Code) -> Code {
        switch code {
        case .invalidDomain: .invalidDomain
        case .invalidKey: .invalidKey
        default: .invalidArguments
        }
    }

    private static func code(of code: StorageError.Code) -> Code {
        code == .keyNamesTooLarge || code == .changeTooLarge ? .tooLarge : .storageFailed
    }
}
