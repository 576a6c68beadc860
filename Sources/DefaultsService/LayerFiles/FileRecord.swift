import DefaultsFiles
import DefaultsModel
import DefaultsStorage
import KeyedArchive

/// The path of a file, the same as another if the bytes are: a directory can have names that look
/// alike and are spelled differently, which Swift's strings take for one.
struct FilePath: Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
    let description: String

    init(_ path: String) {
        description = path
    }

    init(from decoder: any Decoder) throws {
        description = try decoder.singleValueContainer().decode(String.self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    static func == (one: FilePath, other: FilePath) -> Bool {
        one.description.utf8.elementsEqual(other.description.utf8)
    }

    static func < (one: FilePath, other: FilePath) -> Bool {
        one.description.utf8.lexicographicallyPrecedes(other.description.utf8)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(Array(description.utf8))
    }
}

/// A file of a layer as it was found: what it says, or why it says nothing.
struct FoundFile {
    let file: LayerFile
    /// What it holds, or why it cannot be read, in short: by XXH64.
    let digest: UInt64
    private let contents: Result<[UInt8], LayerProblem>

    /// How many bytes the files of one layer of a domain may have together: all of them are read
    /// before they are compared with what there was.
    static let room = 64 << 20

    /// Reads a file; nil if it has gone meanwhile.
    ///
    /// - Parameter room: How many bytes it may have; lowered by those that it has.
    init?(_ file: LayerFile, room: inout Int) {
        self.file = file
        do throws(LayerProblem) {
            let bytes = try file.read(atMost: room)
            room -= bytes.count
            contents = .success(bytes)
            digest = Self.digest(of: bytes)
        } catch {
            guard error.code != .notFound else { return nil }
            contents = .failure(error)
            digest = Self.digest(of: Array("\(error)".utf8))
        }
    }

    var path: FilePath { FilePath(file.path) }

    /// What it says.
    func document() throws(LayerProblem) -> LayerDocument {
        try LayerDocument(contents.get(), of: file)
    }

    /// Never 0, which a record has in the place of a digest.
    private static func digest(of bytes: [UInt8]) -> UInt64 {
        max(1, XXH64.hash(bytes, seed: 0))
    }
}

/// What a layer of a domain is made of: the files, what they lock, and which key is from which.
///
/// It is stored in the layer itself, under `Key.fileRecord`, by the same change as the values. So it
/// never vouches for values that are not there, and a start that finds the files as they were has
/// nothing to read but them.
struct FileRecord: Codable, Equatable {
    /// A file, and what the layer has from it.
    struct File: Codable, Equatable {
        let path: FilePath
        /// The digest of its contents; 0 for a bad one, so that the next start reads it and tells of it
        /// again.
        let digest: UInt64
        /// What it locks by name or prefix.
        var locks: [String] = []
        /// The keys that are from it.
        ///
        /// Those of the first file are not named: all are that no other has.
        var keys: [String] = []
        /// What it says of keys that are from a later file: if that goes, this comes back, also while
        /// the file cannot be read.
        var hidden: [Hidden] = []
    }

    /// A value that is not in force.
    struct Hidden: Codable, Equatable {
        let key: String
        let archive: [UInt8]
    }

    /// The files, the weakest first.
    var files: [File] = []
    /// When the store was last rescued from damage, by `RescueRecord`: a record from before may vouch
    /// for values that are lost.
    var rescue: Int64 = 0

    /// The files that keys are from, without those of the first file.
    var sources: [Key: FilePath] {
        var sources: [Key: FilePath] = [:]
        for file in files {
            for name in file.keys {
                if let key = try? Key(name) { sources[key] = file.path }
            }
        }
        return sources
    }

    /// The file that a key's value is from.
    func source(of key: Key) -> FilePath? {
        let file = files.first { $0.keys.contains { $0.utf8.elementsEqual(key.name.utf8) } }
        return (file ?? files.first)?.path
    }

    /// What is locked, in the order of the files.
    var locks: [Lock] {
        files.flatMap { $0.locks.compactMap(Lock.init) }
    }

    /// The first file that locks a key by name or prefix.
    func firstLocking(_ key: Key) -> FilePath? {
        files.first { $0.locks.contains { Lock($0)?.covers(key) == true } }?.path
    }
}

extension FileRecord {
    /// The record is larger than one that can be read again.
    struct TooLarge: Error, CustomStringConvertible {
        var description: String {
            "What the files of the layer lock, and the names of the keys in them, are together more "
                + "than there is room for."
        }
    }

    /// Reads a record; nil if it is none that this program writes, and the files are to be read
    /// again.
    init?(_ archive: [UInt8]) {
        guard let archive = try? KeyedArchive(validating: archive),
            let record = try? KeyedArchiveDecoder().decode(FileRecord.self, from: archive)
        else { return nil }
        self = record
    }

    /// The record as it is stored.
    ///
    /// - Throws: ``TooLarge``.
    func archive() throws -> [UInt8] {
        let bytes = try KeyedArchiveEncoder().encode(self).bytes
        guard FileRecord(bytes) != nil else { throw TooLarge() }
        return bytes
    }
}
