package import DefaultsFiles
package import DefaultsModel
import DefaultsStorage
import KeyedArchive

/// The path of a file.
///
/// Two paths are equal if their bytes are. Swift's strings treat different spellings of a character
/// as equal, but a directory may contain both.
package struct FilePath: Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
    package let description: String

    init(_ path: String) {
        description = path
    }

    package init(from decoder: any Decoder) throws {
        description = try decoder.singleValueContainer().decode(String.self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    package static func == (one: FilePath, other: FilePath) -> Bool {
        one.description.utf8.elementsEqual(other.description.utf8)
    }

    package static func < (one: FilePath, other: FilePath) -> Bool {
        one.description.utf8.lexicographicallyPrecedes(other.description.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(Array(description.utf8))
    }
}

/// A file of a layer as it was found: its contents, or the reason that it has none.
struct FoundFile {
    let file: LayerFile
    /// The digest (XXH64) of the contents, or of the reason that they cannot be read.
    let digest: UInt64
    private let contents: Result<[UInt8], LayerProblem>

    /// The most bytes that the files of one layer of a domain may have together.
    ///
    /// All of them are read before they are compared with their last contents.
    static let room = 64 << 20

    /// Reads a file; nil if it has been removed meanwhile, or has nothing for its layer.
    ///
    /// - Parameter room: How many bytes it may have. It is reduced by the size of the file.
    init?(_ file: LayerFile, room: inout Int) {
        self.file = file
        do throws(LayerProblem) {
            let bytes = try file.read(atMost: room)
            guard LayerDocument.mayHaveEntries(bytes, of: file) else { return nil }
            room -= bytes.count
            contents = .success(bytes)
            digest = Self.digest(of: bytes, seed: Self.seed(of: file))
        } catch {
            guard error.code != .notFound else { return nil }
            contents = .failure(error)
            digest = Self.digest(of: Array("\(error)".utf8))
        }
    }

    var path: FilePath { FilePath(file.path) }

    /// The parsed contents.
    func document() throws(LayerProblem) -> LayerDocument {
        try LayerDocument(contents.get(), of: file)
    }

    /// A file may mean something else although its bytes are the same.
    private static func seed(of file: LayerFile) -> UInt64 {
        file.circumstances.map { XXH64.hash(Array($0.utf8), seed: 0) } ?? 0
    }

    /// The digest is never 0, which means "invalid" in a record.
    private static func digest(of bytes: [UInt8], seed: UInt64 = 0) -> UInt64 {
        max(1, XXH64.hash(bytes, seed: seed))
    }
}

/// The files that a layer of a domain is made from, what they lock, and which key comes from which
/// file.
///
/// It is stored in the layer itself, under `Key.fileRecord`, by the same change as the values. So
/// it never describes values that are not there. If the files are unchanged at the next start,
/// nothing else has to be read.
package struct FileRecord: Codable, Equatable {
    /// A file, and what the layer has from it.
    struct File: Codable, Equatable {
        let path: FilePath
        /// The digest of its contents.
        ///
        /// It is 0 for an invalid file, so that the next start reads it and reports it again.
        let digest: UInt64
        /// What it locks, by name or prefix.
        var locks: [String] = []
        /// The keys whose values come from it.
        ///
        /// The first file has no list: every key that is in no other list belongs to it.
        var keys: [String] = []
        /// Its values that a later file overrides.
        ///
        /// If that file is removed, these values apply again, even if this file cannot be read by
        /// then.
        var hidden: [Hidden] = []
    }

    /// A value that another file overrides.
    struct Hidden: Codable, Equatable {
        let key: String
        let archive: [UInt8]
    }

    /// The files, the weakest first.
    var files: [File] = []
    /// When the store was last repaired, by `RepairRecord`.
    ///
    /// An older record may describe values that are lost.
    var repair: Int64 = 0

    /// The file of each key, except for the keys of the first file.
    var sources: [Key: FilePath] {
        var sources: [Key: FilePath] = [:]
        for file in files {
            for name in file.keys {
                if let key = try? Key(name) { sources[key] = file.path }
            }
        }
        return sources
    }

    /// The file that a key's value comes from.
    package func source(of key: Key) -> FilePath? {
        let file = files.first { $0.keys.contains { $0.utf8.elementsEqual(key.name.utf8) } }
        return (file ?? files.first)?.path
    }

    /// What is locked, in the order of the files.
    package var locks: [Lock] {
        files.flatMap { $0.locks.compactMap(Lock.init) }
    }

    /// The first file that locks a key by name or prefix.
    func firstLocking(_ key: Key) -> FilePath? {
        files.first { $0.locks.contains { Lock($0)?.covers(key) == true } }?.path
    }
}

extension FileRecord {
    /// The record is too large to be read again.
    struct TooLarge: Error, CustomStringConvertible {
        var description: String {
            "The locks and the names of keys in the files of this layer are too large together. "
                + "Use fewer keys."
        }
    }

    /// Decodes a record; nil if it is not a valid record.
    ///
    /// The files are then read again.
    init?(_ archive: [UInt8]) {
        guard let archive = try? KeyedArchive(validating: archive),
            let record = try? KeyedArchiveDecoder().decode(FileRecord.self, from: archive)
        else { return nil }
        self = record
    }

    /// Encodes the record.
    ///
    /// - Throws: ``TooLarge``.
    func archive() throws -> [UInt8] {
        let bytes = try KeyedArchiveEncoder().encode(self).bytes
        guard FileRecord(bytes) != nil else { throw TooLarge() }
        return bytes
    }
}
