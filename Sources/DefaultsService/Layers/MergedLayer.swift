import DefaultsFiles
import DefaultsModel
import DefaultsStorage
import KeyedArchive

/// What the files of one layer of a domain say together: of each key the last that has it, and all
/// locks.
struct MergedLayer {
    private(set) var values: [Key: KeyedArchive] = [:]
    private(set) var locks: [FileRecord.Lock] = []
    /// The place of the file that each key is from.
    private var sources: [Key: Int] = [:]

    /// Lays the next file over those before.
    mutating func add(_ document: LayerDocument, from file: Int) {
        for (key, archive) in document.values { set(key, to: archive, from: file) }
        locks += document.locks.map { FileRecord.Lock(pattern: $0.pattern, file: file) }
    }

    /// Lays a value over those before.
    mutating func set(_ key: Key, to archive: KeyedArchive, from file: Int) {
        values[key] = archive
        sources[key] = file
    }

    /// Adds a lock.
    mutating func lock(_ pattern: String, from file: Int) {
        locks.append(FileRecord.Lock(pattern: pattern, file: file))
    }

    /// The record of the layer.
    func record(of files: [FileRecord.File], rescue: Int64) -> FileRecord {
        FileRecord(
            files: files, locks: locks,
            sources: sources.filter { $0.value != 0 }.sorted { $0.key < $1.key }
                .map { FileRecord.Source(key: $0.key.name, file: $0.value) },
            rescue: rescue)
    }
}
