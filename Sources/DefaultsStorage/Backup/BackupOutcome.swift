/// What has come of a backup that was begun.
public enum BackupOutcome: Sendable {
    /// It is verified, on disk, and in its place.
    case made(Backup)
    /// The database is damaged, which its copy has shown; there is no backup of it, and those that
    /// there are were left alone.
    case damaged(StoreDamage)
    /// It was given up, by `DurableWriter.giveUpBackup()` or because the writer was closed.
    case givenUp
}
