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
        code == .invalidDomain ? .invalidDomain : .invalidKey
    }

    private static func code(of code: StorageError.Code) -> Code {
        code == .keyNamesTooLarge ? .tooLarge : .storageFailed
    }

    init(tooLargeArchive size: Int) {
        self.init(
            .tooLarge,
            "The archive is \(size) bytes, and a value is at most \(Limits.maximumValueSize). "
                + "Store large data in a file, and its name here.")
    }

    init(lockedLayer domain: Domain) {
        self.init(
            .locked,
            "\(domain) is read only: the layer \(domain.layer.name) belongs to "
                + (domain.layer == .managed ? "the administrator." : "the vendor.")
                + " Write to \(domain.name).")
    }
}
