package import DefaultsProtocol
internal import DefaultsTerms
internal import Glibc

// Invariants
//
// 1. An image has only the paths of keys, each once. All other items of a file are ignored, as dconf
//    ignores them.
// 2. A file whose names are not those of its hashes, or that ends too early, is refused. It may have been
//    written only in part when the power failed, and what is missing must not look like a removal.
// 3. A value that does not change is copied as it is. It was in the form of a variant when it was set
//    here; in a file of somebody else it may be anything, and only its reader finds out.

/// The values of a file of dconf by their paths, each in the bytes of the file.
///
/// ``DconfDatabase`` reads every value. This one does not, so that a file can be written again with a
/// few changes for little.
package struct DconfImage: Sendable {
    /// The name of an item that only the files of defaultsd have.
    ///
    /// It is no path, so dconf ignores it, and does not have it in the files that it writes.
    static let signature = ".defaultsd"

    private var values: [[UInt8]: ArraySlice<UInt8>] = [:]

    /// Whether defaultsd was the last to write the file.
    package private(set) var isView = false

    /// An image without values.
    package init() {}

    /// Reads a file.
    ///
    /// - Throws: ``GVDBError`` if the file is no GVDB file or not a whole one, or if its items overlap.
    package init(_ bytes: [UInt8]) throws(GVDBError) {
        let table = try GVDBTable(bytes)
        var remaining = (values: bytes.count, names: ContractLimits.maximumNameBytes)
        for item in table.indices {
            // An item of zeros has no kind, and no name, either.
            let path = try table.checkedNameBytes(of: item)
            remaining.names -= path.count
            guard remaining.names >= 0 else { throw .tooLarge }
            guard table.kind(of: item) == .value else { continue }
            let value = try table.bytes(of: item)
            remaining.values -= value.count
            guard remaining.values >= 0 else { throw .tooLarge }
            if path.elementsEqual(Self.signature.utf8) { isView = true }
            if SettingsPath.isPathOfKey(path) { values[path] = value }
        }
    }

    /// The number of values.
    package var count: Int { values.count }

    /// The paths, in no order.
    package var paths: [String] { values.keys.map { String(decoding: $0, as: UTF8.self) } }

    /// The value of a path; nil if there is none, or none that can be read.
    package func value(at path: String) -> ExactValue? {
        guard let bytes = values[Array(path.utf8)],
            let value = try? ExactValue(gvariant: bytes, as: .variant),
            case .variant(let content) = value.content
        else { return nil }
        return content
    }

    /// Whether a path has something that is no value, or one of a type that is not known here.
    package func hasUnreadableValue(at path: String) -> Bool {
        values[Array(path.utf8)] != nil && value(at: path) == nil
    }

    /// Takes over what another image has at a path, which may be nothing.
    package mutating func copy(_ path: String, from other: DconfImage) {
        values[Array(path.utf8)] = other.values[Array(path.utf8)]
    }

    /// Sets a value, or removes it.
    ///
    /// - Returns: Whether the image differs now.
    /// - Throws: ``GVDBError`` if a file cannot have the path or the value.
    @discardableResult
    package mutating func set(
        _ path: String, to value: ExactValue?
    ) throws(GVDBError) -> Bool {
        let name = Array(path.utf8)
        guard let value else { return values.removeValue(forKey: name) != nil }
        guard SettingsPath.isPathOfKey(name), name.count <= GVDBTable.maximumNameLength else {
            throw .name(item: values.count)
        }
        do throws(GVariantError) {
            let bytes = try ExactValue(.variant, .variant(value)).gvariant()
            if let old = values[name], old.elementsEqual(bytes) { return false }
            values[name] = bytes[...]
        } catch {
            throw .value(error)
        }
        return true
    }

    /// The same with only some paths.
    package func filter(_ isKept: (String) -> Bool) -> DconfImage {
        var image = self
        image.values = values.filter { isKept(String(decoding: $0.key, as: UTF8.self)) }
        return image
    }

    /// The paths that have another value in another image, or have one in only one of both.
    package func paths(unlike other: DconfImage) -> [String] {
        let changed = values.filter { path, value in
            other.values[path].map { !$0.elementsEqual(value) } ?? true
        }
        let removed = other.values.keys.filter { values[$0] == nil }
        return (changed.keys + removed).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The bytes of a file that dconf reads.
    ///
    /// - Parameter isView: Whether the file says that defaultsd has written it.
    /// - Throws: ``GVDBError`` if something is too large.
    package func bytes(asView isView: Bool) throws(GVDBError) -> [UInt8] {
        var builder = DatabaseBuilder()
        // In order, so that the same values are the same file.
        for (path, value) in values.sorted(by: { Self.precedes($0.key, $1.key) }) {
            builder.add(path, value: Array(value))
        }
        if isView { builder.add(Array(Self.signature.utf8), value: Self.mark) }
        return try GVDBWriter.file(of: builder.contents)
    }

    private static func precedes(_ first: [UInt8], _ second: [UInt8]) -> Bool {
        first.withUnsafeBytes { first in
            second.withUnsafeBytes { second in
                // The pointers are used during the call only.
                guard let one = first.baseAddress, let other = second.baseAddress else {
                    return first.count < second.count
                }
                let order = memcmp(one, other, min(first.count, second.count))
                return order == 0 ? first.count < second.count : order < 0
            }
        }
    }

    /// The empty text, as a variant.
    private static let mark: [UInt8] = [0, 0, UInt8(ascii: "s")]
}
