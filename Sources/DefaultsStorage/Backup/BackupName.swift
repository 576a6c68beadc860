internal import DefaultsModel

/// The name of a backup's file: `<date and time in UTC>-<generation>-<kind>.db`.
///
/// ```swift
/// BackupName("2026-11-21T194000Z-1234-daily.db")?.generation.rawValue  // 1234
/// ```
struct BackupName: Equatable, CustomStringConvertible {
    static let suffix = ".db"

    let date: UInt64
    let generation: Generation
    let kind: Backup.Kind

    init(date: UInt64, generation: Generation, kind: Backup.Kind) {
        self.date = date
        self.generation = generation
        self.kind = kind
    }

    /// Reads the name of a file; nil where it is no backup's.
    init?(_ file: String) {
        guard file.hasSuffix(BackupName.suffix) else { return nil }
        let words = file.dropLast(BackupName.suffix.count).utf8.dropFirst(Timestamp.length)
            .split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard words.count == 3, words[0].isEmpty,
            let date = Timestamp.seconds(String(file.prefix(Timestamp.length))),
            let number = UInt64(String(words[1]) ?? ""),
            let generation = Generation(fromFile: number),
            let kind = Backup.Kind(rawValue: String(words[2]) ?? "")
        else { return nil }
        self.init(date: date, generation: generation, kind: kind)
        // What has two spellings would be two backups of one name.
        guard description + BackupName.suffix == file else { return nil }
    }

    /// Without the suffix.
    var description: String {
        "\(Timestamp.text(date))-\(generation)-\(kind.rawValue)"
    }
}
