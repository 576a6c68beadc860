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
    /// `PendingBytes`, `JournalBytes` and `DatabaseBytes` (t), `FileSystem` (s) and `IsNetworkFileSystem`
    /// (b) of the database.
    public static let getStatistics = MethodDeclaration(
        "GetStatistics", in: [], out: [Argument("statistics", "a{sv}")])
}
