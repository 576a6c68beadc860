import TestSupport
import TestTiers
import Testing

/// Input of a hostile or careless caller, which takes a real peer: each is refused, and affects no other
/// caller.
@Suite(.startsPrograms, .serialized) struct BadInputTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    /// An error under the contract's own prefix.
    static func own(_ name: String) -> String { "org.defaultsd.Defaults1.Error.\(name)" }

    @Test func `A value that names a descriptor, and has none, is InvalidArgs`() {
        let answer = desktop.call("SetValue", "org.example.App", "Key", "<handle 0>")
        #expect(answer.errorName == "org.freedesktop.DBus.Error.InvalidArgs")
        #expect(answer.error.contains("descriptor"))
    }

    @Test func `A value with very many parts is TooLarge, and uses no memory afterwards`() throws {
        let before = try desktop.residentKilobytes()
        let output = try desktop.python(
            """
            \(Desktop.pythonArchive)
            for kind in ("an", "aai"):
                many = GLib.Variant.new_from_bytes(
                    GLib.VariantType(kind), GLib.Bytes(bytes(8 << 20)), True)
                names = [GLib.Variant("s", name) for name in ("org.example.App", "Key")]
                try:
                    service.call_sync("SetValue", GLib.Variant.new_tuple(
                        *names, GLib.Variant.new_variant(many)), 0, -1, None)
                    print("accepted")
                except GLib.Error as error:
                    print(error.message)
            service.SetValue("(ssv)", "org.example.App", "Small", GLib.Variant("b", True))
            service.Synchronize()
            """
        ).requireOutput()
        for line in output.split(separator: "\n") { #expect(line.contains(Self.own("TooLarge"))) }
        // A few megabytes are the buffers of the bus connection; the values would be a hundred.
        #expect(try desktop.residentKilobytes() < before + 16_384)
    }
}
