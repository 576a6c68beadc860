public import DefaultsModel
public import KeyedArchive

/// What a file says: values and locks.
///
/// Invariants:
///
/// 1. A file is taken as a whole or not at all: what is wrong anywhere in it is thrown.
/// 2. Each key stands once in the values. None begins with `$`.
/// 3. Only a file of the managed layer has locks.
/// 4. What a file costs is bounded by ``LayerFile/maximumSize`` and by limits of its own, however its
///    parts refer to each other.
public struct LayerDocument: Sendable {
    /// The values, in the order of the file.
    public let values: [(key: Key, archive: KeyedArchive)]
    /// What is locked besides the keys that have values, in the order of the file.
    public let locks: [Lock]
    /// What is suspicious and does not keep the file from being taken.
    public let remarks: [LayerProblem]

    /// Reads the bytes of a file, of which the beginning tells the form: a binary property list, one in
    /// XML, or JSON.
    ///
    /// ```swift
    /// let document = try LayerDocument(file.read(), of: file)
    /// ```
    ///
    /// - Throws: ``LayerProblem`` with the place of the first thing found wrong.
    public init(_ bytes: [UInt8], of file: LayerFile) throws(LayerProblem) {
        guard bytes.count <= LayerFile.maximumSize else {
            throw .fileTooLarge(file.path, limit: LayerFile.maximumSize)
        }
        switch DomainFormat(of: bytes) {
        case .binary:
            var layer = try PropertyListLayer(binary: bytes, of: file)
            self = try layer.read()
        case .xml:
            var layer = try PropertyListLayer(xml: bytes, of: file)
            self = try layer.read()
        case .json, nil:
            guard !bytes.isEmpty else { throw .fileIsEmpty(file.path) }
            var layer = try JSONLayer(bytes, of: file)
            self = try layer.read()
        }
    }

    init(_ contents: LayerContents, remarks: [LayerProblem]) {
        values = contents.values
        locks = contents.locks
        self.remarks = remarks
    }
}
