import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// The interface for the project's own tool, which is closed to sandboxes.
@Suite(.startsPrograms, .serialized) struct MaintenanceTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    @Test func `Statistics count what has happened`() throws {
        desktop.call("SetValue", "a.b", "key", "<1>")
        desktop.call("SetValue", "a.b", "key", "<1>")
        desktop.call("Synchronize")
        desktop.call("SetValue", "a.b", "key", "<2>")
        let facts = try desktop.gdbus("org.defaultsd.Maintenance1.GetStatistics").requireOutput()
        #expect(facts.contains("'Changes': <uint64 2>"))
        #expect(facts.contains("'Flushes': <uint64 1>"))
        #expect(facts.contains("'FailedFlushes': <uint64 0>"))
        #expect(facts.contains("'Calls': <uint64 5>"))
        for fact in ["Uptime", "PendingBytes", "JournalBytes", "DatabaseBytes"] {
            #expect(facts.contains("'\(fact)': <uint64 "))
        }
    }

    @Test(.enabled(if: Desktop.sandboxIsAvailable, "bwrap cannot make a sandbox here"))
    func `A caller in a sandbox is denied them`() throws {
        #expect(desktop.gdbus("org.defaultsd.Maintenance1.GetStatistics").status == 0)
        let denied = try desktop.callFromSandbox("org.defaultsd.Maintenance1.GetStatistics")
        #expect(denied.errorName == "org.freedesktop.DBus.Error.AccessDenied")
        #expect(denied.error.contains("GetStatistics is not allowed for programs in a sandbox."))
    }
}
