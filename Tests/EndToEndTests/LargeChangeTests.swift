import Foundation
import TestSupport
import TestTiers
import Testing

/// Changes that are too large for a quick test.
@Suite(.startsPrograms, .serialized) struct LargeChangeTests {
    private let desktop: Desktop
    private static let app = "org.example.App"

    init() throws { desktop = try Desktop() }

    @Test
    func `All keys beside a locked one are removed, even if one change cannot name them all`()
        throws
    {
        let files = ["\(desktop.directory.path)/0.json", "\(desktop.directory.path)/1.json"]
        _ = try desktop.python(
            """
            import json, sys
            for part, file in enumerate(sys.argv[1:]):
                numbers = range(part * 131073, (part + 1) * 131073)
                with open(file, "w") as file: json.dump({f"{n:06}": True for n in numbers}, file)
            """, files[0], files[1]
        ).requireOutput()
        for file in files { _ = try desktop.tool("import", Self.app, file).requireOutput() }
        try desktop.write(#"{"$locked": ["000007"]}"#, to: "\(Self.app).json", in: .managed)
        try desktop.awaitLock(of: "000007", in: Self.app)
        let deleted = desktop.tool("delete", Self.app, "--skip-locked")
        #expect(deleted.status == 0, "\(deleted)")
        #expect(desktop.tool("keys", Self.app).output == "000007\n")
    }
}
