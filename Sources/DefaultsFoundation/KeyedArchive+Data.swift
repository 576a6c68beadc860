public import Foundation
public import KeyedArchive
public import PropertyList

extension KeyedArchive {
    /// Validates data as a keyed archive, without making any object.
    ///
    /// - Throws: `ArchiveError` with the offset of the first fault.
    public init(validating data: Data, limits: Limits = .standard) throws(ArchiveError) {
        try self.init(validating: Array(data), limits: limits)
    }

    /// The bytes of the archive.
    public var data: Data { Data(bytes) }
}
