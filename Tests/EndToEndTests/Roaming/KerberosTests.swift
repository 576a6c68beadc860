import Foundation
import TestSupport
import Testing

/// Sign-in with a ticket, which `Tests/Kerberos` tries with a key distribution centre of its own.
@Suite struct KerberosTests {
    /// What `kerberos-test` ends with if a package is missing.
    private static let skipped: Int32 = 77

    @Test func `A Kerberos ticket lets its user roam by a server, and no other user`() throws {
        try ShippedPrograms.requireNew()
        let script = Desktop.packageDirectory + "Tests/Kerberos/kerberos-test"
        let result = ProgramResult.run(HangGuard.command + [script, Desktop.programs])
        if result.status == Self.skipped { return print(result.error) }
        #expect(result.status == 0, "\(result.output)\(result.error)")
    }
}
