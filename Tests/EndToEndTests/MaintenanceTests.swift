import TestSupport
import TestTiers
import Testing

/// The interface for the project's own tool, which is closed to sandboxes.
@Suite(.startsPrograms, .serialized) struct MaintenanceTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    @Test(.enabled(if: Desktop.sandboxIsAvailable, "bwrap cannot make a sandbox here"))
    func `A caller in a sandbox is denied them`() throws {
        #expect(desktop.gdbus("org.defaultsd.Maintenance1.GetStatistics").status == 0)
        let denied = try desktop.callFromSandbox("org.defaultsd.Maintenance1.GetStatistics")
        #expect(denied.errorName == "org.freedesktop.DBus.Error.AccessDenied")
        #expect(denied.error.contains("GetStatistics is not allowed for programs in a sandbox."))
    }
}
