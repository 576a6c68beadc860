package import DefaultsModel
internal import DefaultsXfconf
internal import DomainForms
package import KeyedArchive

/// The contents of a file: values and locks.
///
/// Invariants:
///
/// 1. A file is accepted as a whole or not at all: any fault in it is thrown.
/// 2. Each key has one value. No key begins with `$`.
/// 3. Only a file of the managed layer has locks.
/// 4. The cost of a file is bounded by ``LayerFile/maximumSize`` and by its own limits, however its
///    parts refer to each other.
package struct LayerDocument: Sendable {
    /// The values, in the order of the file.
    package let values: [(key: Key, archive: KeyedArchive)]
    /// The locks of keys that have no value in the file, in the order of the file.
    package let locks: [Lock]
    /// Remarks, which do not cause the file to be refused.
    package let remarks: [LayerProblem]

    /// Reads the bytes of a file.
    ///
    /// The first bytes show the format: a binary property list, one in XML, or JSON.
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
        case .channel(var layer): self = try layer.read()
        }
    }

    /// Whether a file has anything to do with its layer.
    ///
    /// A channel without a lock has nothing to do with the managed layer.
    package static func mayHaveEntries(_ bytes: [UInt8], of file: LayerFile) -> Bool {
        guard case .channel = file.form, file.domain.layer == .managed else { return true }
        return ChannelFile.mayLock(bytes)
    }

    /// All errors of a file, as far as it can be read, and the remarks.
    ///
    /// This is for the author of the file. A file with an error is not used at all (invariant 1).
    package static func findings(
        in bytes: [UInt8], of file: LayerFile
    ) -> (errors: [LayerProblem], remarks: [LayerProblem]) {
        do throws(LayerProblem) {
            switch try form(of: bytes, file) {
            case .list(var layer): return layer.check()
            case .json(var layer): return layer.check()
            case .channel(var layer): return layer.check()
            }
        } catch {
            return ([error], [])
        }
    }

    private enum Form {
        case list(PropertyListLayer)
        case json(JSONLayer)
        case channel(ChannelLayer)
    }

    /// The format of a file, according to its first bytes.
    private static func form(
        of bytes: [UInt8], _ file: LayerFile
    ) throws(LayerProblem) -> Form {
        guard bytes.count <= LayerFile.maximumSize else {
            throw .fileTooLarge(file.path, limit: LayerFile.maximumSize)
        }
        if case .channel(let user) = file.form {
            return .channel(try ChannelLayer(bytes, of: file, for: user))
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
