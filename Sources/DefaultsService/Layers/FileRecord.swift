import DefaultsFiles
import DefaultsModel
import KeyedArchive

/// What a layer of a domain is made of: the files, what they lock, and which key is from which.
///
/// It is stored in the layer itself, under `Key.fileRecord`, by the same change as the values. So it
/// never vouches for values that are not there, and a start that finds the files as they were has
/// nothing to read but them.
struct FileRecord: Codable, Equatable {
    /// A file that was found.
    struct File: Codable, Equatable {
        let path: String
        /// The digest of its contents.
        let digest: UInt64

        /// A file of which nothing is on record, so that the next start reads it and tells of it again.
        static func bad(at path: String) -> File { File(path: path, digest: 0) }
    }

    /// A key, or a prefix and `*`, that a file locks.
    struct Lock: Codable, Equatable {
        let pattern: String
        /// The place of the file among ``FileRecord/files``.
        let file: Int
    }

    /// A key that a file has set.
    struct Source: Codable, Equatable {
        let key: String
        /// The place of the file among ``FileRecord/files``.
        let file: Int
    }

    /// The files, the weakest first.
    var files: [File] = []
    var locks: [Lock] = []
    /// Which keys are from another file than the first.
    var sources: [Source] = []
    /// When the store was last rescued from damage, by `RescueRecord`: a record from before may vouch
    /// for values that are lost.
    var rescue: Int64 = 0

    /// The file that a key's value is from.
    func source(of key: Key) -> String {
        let source = sources.first { $0.key.utf8.elementsEqual(key.name.utf8) }
        return path(of: source?.file ?? 0)
    }

    /// What is locked.
    var patterns: [DefaultsFiles.Lock] {
        locks.compactMap { DefaultsFiles.Lock($0.pattern) }
    }

    /// The path of a file by its place.
    func path(of file: Int) -> String {
        files.indices.contains(file) ? files[file].path : ""
    }
}

extension FileRecord {
    /// Reads a record; nil where it is none that this program writes, and the files are to be read
    /// again.
    init?(_ archive: [UInt8]) {
        guard let archive = try? KeyedArchive(validating: archive),
            let record = try? KeyedArchiveDecoder().decode(FileRecord.self, from: archive)
        else { return nil }
        self = record
    }

    /// The record as it is stored.
    func archive() throws -> [UInt8] {
        try KeyedArchiveEncoder().encode(self).bytes
    }
}
