package import DefaultsModel
internal import DomainForms
package import KeyedArchive

/// What a file says: values and locks.
///
/// Invariants:
///
/// 1. A file is accepted as a whole or not at all: any fault in it is thrown.
/// 2. Each key is in the values once. No key begins with `$`.
/// 3. Only a file of the managed layer has locks.
/// 4. What a file costs is bounded by ``LayerFile/maximumSize`` and by limits of its own, however
///    its parts refer to each other.
package struct LayerDocument: Sendable {
    /// The values, in the order of the file.
    package let values: [(key: Key, archive: KeyedArchive)]
    /// What is locked besides the keys that have values, in the order of the file.
    package let locks: [Lock]
    /// What is suspicious, but no reason to refuse the file.
    package let remarks: [LayerProblem]

    /// Reads the bytes of a file.
    ///
    /// Their beginning shows the form: a binary property list, one in XML, or JSON.
    ///
    /// ```swift
    /// let document = try LayerDocument(file.read(), of: file)
    /// ```
    ///
    /// - Throws: ``LayerProblem`` with the place of the first fault.
    package init(_ bytes: [UInt8], of file: LayerFile) throws(LayerProblem) {
        switch try Self.form(of: bytes, file) {
        case .list(var layer): self = try layer.read()
        case .json(var layer): self = try layer.read()
        }
    }

    /// Everything that is wrong with a file, as far as it can be read on after, and what is
    /// suspicious.
    ///
    /// A file with an error is not taken at all (invariant 1); this is for its author.
    package static func findings(
        in bytes: [UInt8], of file: LayerFile
    ) -> (errors: [LayerProblem], remarks: [LayerProblem]) {
        do throws(LayerProblem) {
            switch try form(of: bytes, file) {
            case .list(var layer): return layer.check()
            case .json(var layer): return layer.check()
            }
        } catch {
            return ([error], [])
        }
    }

    private enum Form {
        case list(PropertyListLayer)
        case json(JSONLayer)
    }

    /// The form of a file, by its beginning.
    private static func form(
        of bytes: [UInt8], _ file: LayerFile
    ) throws(LayerProblem) -> Form {
        guard bytes.count <= LayerFile.maximumSize else {
            throw .fileTooLarge(file.path, limit: LayerFile.maximumSize)
        }
        switch DomainFormat(of: bytes) {
        case .binary: return .list(try PropertyListLayer(binary: bytes, of: file))
        case .xml: return .list(try PropertyListLayer(xml: bytes, of: file))
        case .json, nil:
            guard !bytes.isEmpty else { throw .fileIsEmpty(file.path) }
            return .json(try JSONLayer(bytes, of: file))
        }
    }

    init(_ contents: LayerContents, remarks: [LayerProblem]) {
        values = contents.values
        locks = contents.locks
        self.remarks = remarks
    }
}
