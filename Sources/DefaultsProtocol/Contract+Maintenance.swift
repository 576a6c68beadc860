public import DBus

/// The interface for the project's own tool, at the same object as the contract's.
///
/// It is no promise to others, may change with every version, and is closed to programs in a
/// sandbox.
extension Contract {
    /// The name of the interface.
    public static let maintenanceInterface: InterfaceName = "org.defaultsd.Maintenance1"

    /// Tells what the daemon has done and what it holds, each fact by its name.
    ///
    /// The facts: `Uptime` (t, seconds), `Changes`, `Flushes` and `FailedFlushes` (t, since the start),
    /// `Rescues` (t, of a damaged database), `PendingBytes`, `JournalBytes` and `DatabaseBytes` (t),
    /// `ReserveBytes` (t, kept for removals on a full disk; 0 while that is used up),
    /// `Backups` (u, their number) and `NewestBackup` (t, seconds since 1970; 0 where there is none),
    /// `LastRescue` (s, what was kept and what was lost; empty where there was none) and
    /// `LastRescueTime` (t, seconds since 1970), `Calls` (t, since the start), `FileSystem` (s) and `IsNetworkFileSystem` (b) of the
    /// database.
    public static let getStatistics = MethodDeclaration(
        "GetStatistics", in: [], out: [Argument("statistics", "a{sv}")])

    /// Tells who has made the change of a generation: the file of the program and the process.
    ///
    /// An empty name stands for nobody: the daemon knows it of its last 1024 changes.
    public static let findWriter = MethodDeclaration(
        "FindWriter", in: [Argument("generation", "t")],
        out: [Argument("executable", "s"), Argument("process", "u")])

    /// Lists the programs that have made changes since the daemon's start, each with their number,
    /// in no order; an empty name stands for those that the daemon does not know, or has no room for.
    public static let listWriters = MethodDeclaration(
        "ListWriters", in: [], out: [Argument("writers", "a(st)")])

    /// Measures a domain: how many keys it has, the bytes of their names, those of their archives,
    /// and the largest of these, the largest first, at most so many.
    public static let measureDomain = MethodDeclaration(
        "MeasureDomain", in: [Argument("domain", "s"), Argument("limit", "u")],
        out: [
            Argument("keys", "t"), Argument("name_bytes", "t"), Argument("archive_bytes", "t"),
            Argument("largest", "a(st)"),
        ])

    /// Gives the name of the service to the caller, which waits for it in the bus's queue, and ends.
    ///
    /// Before that everything is written to disk, and after it every call that came to the old owner is
    /// answered. The reply comes when the name has been given up. Error.Conflict if another connection
    /// is first in the queue: nothing is given up then.
    public static let handOver = MethodDeclaration("HandOver", in: [], out: [])

    /// Lists the machines of which the database knows, this one first: each with its ID, and its host
    /// name, which is empty where it is not known.
    public static let listHosts = MethodDeclaration(
        "ListHosts", in: [], out: [Argument("hosts", "a(ss)")])

    /// Lists the backups, the newest first.
    ///
    /// Each: name, date (seconds since 1970), generation, kind (`daily`, `undo`, `manual` if
    /// the tool has asked for it, or `program` if another program has), size in bytes.
    public static let listBackups = MethodDeclaration(
        "ListBackups", in: [], out: [Argument("backups", "a(sttst)")])

    /// Makes a backup of everything that was acknowledged before, and replies with its name when it
    /// is verified and on disk.
    ///
    /// Of each kind the newest seven are kept, so a program's backups never replace those that the
    /// user has made with the tool.
    public static let backUp = MethodDeclaration("BackUp", in: [], out: [Argument("name", "s")])

    /// Gives every key the value that it has in a backup, and removes those that it does not have,
    /// by ordinary changes.
    ///
    /// Replies when all is on disk. `undo` is the name of a backup that was made of what was there
    /// before, empty if nothing had to be changed or that was damaged; `damaged` counts the values of the backup that cannot
    /// be read; their keys are as they were, and none is removed, as nobody knows which those are;
    /// `locked` counts the keys that the administrator keeps as they are.
    public static let restoreBackup = MethodDeclaration(
        "RestoreBackup", in: [Argument("name", "s")],
        out: [
            Argument("undo", "s"), Argument("set", "t"), Argument("removed", "t"),
            Argument("damaged", "t"), Argument("locked", "t"),
        ])

    /// Restores a backup, by name or by file, for all or some domains.
    ///
    /// A dry run only reports what would change. One of `name` and `path` is empty; the path is absolute,
    /// and its file is a backup, which may be of another machine. `domains`, if any, are the only ones that are restored: one without a suffix in all
    /// its layers. `changes` is empty unless the call is dry: each domain with the keys that would
    /// be set, those that would be removed, and how many are locked.
    public static let restore = MethodDeclaration(
        "Restore",
        in: [
            Argument("name", "s"), Argument("path", "s"), Argument("domains", "as"),
            Argument("dry", "b"),
        ],
        out: [
            Argument("undo", "s"), Argument("set", "t"), Argument("removed", "t"),
            Argument("damaged", "t"), Argument("locked", "t"), Argument("changes", "a(sasast)"),
        ])

    /// Lists the files of the layers, the weakest first within a domain's layer.
    ///
    /// Each: layer (`managed` or `system`), domain, path, and what is wrong with it; empty where it is
    /// good.
    public static let listLayerFiles = MethodDeclaration(
        "ListLayerFiles", in: [], out: [Argument("files", "a(ssss)")])

    /// Lists what is locked in a domain: keys, and prefixes with a trailing `*`, each with the file
    /// that locks it.
    ///
    /// A key with a managed value is listed as a key. The locks of NSGlobalDomain, which hold in every
    /// domain, come after the domain's own.
    public static let listLocks = MethodDeclaration(
        "ListLocks", in: [Argument("domain", "s")], out: [Argument("locks", "a(ss)")])
}
