import Foundation
import TestSupport
import Testing

/// What `explain` says of GSettings schemas.
@Suite struct SchemaToolTests {
    @Test func `explain shows what a schema says of a key`() throws {
        let desktop = try Desktop()
        let schemas = desktop.directory.path + "/schemas"
        try FileManager.default.createDirectory(
            atPath: schemas, withIntermediateDirectories: false)
        try """
        <schemalist>
          <enum id="org.example.Color"><value nick="red" value="0"/><value nick="blue" value="1"/></enum>
          <schema id="org.example.Pen" path="/org/example/Pen/">
            <key name="width" type="u"><range min="1" max="9"/><default>3</default>
              <summary>Width of the line</summary><description>In pixels.</description></key>
            <key name="color" enum="org.example.Color"><default>'red'</default></key>
          </schema>
        </schemalist>
        """.write(toFile: schemas + "/a.gschema.xml", atomically: true, encoding: .utf8)
        let compiled = ProgramResult.run(["glib-compile-schemas", schemas])
        try #require(compiled.status == 0, "\(compiled)")
        var environment = desktop.environment
        environment["GSETTINGS_SCHEMA_DIR"] = schemas
        func tool(_ arguments: String...) -> String {
            desktop.run([Desktop.programs + "/defaultsctl"] + arguments, environment: environment)
                .output
        }
        for (key, value) in [("width", "-int 5"), ("color", "-string blue"), ("other", "-int 1")] {
            let words = value.split(separator: " ").map(String.init)
            #expect(desktop.tool(["write", "org.example.Pen", key] + words).status == 0)
        }
        #expect(
            tool("explain", "org.example.Pen", "width").hasSuffix(
                "Schema org.example.Pen: Width of the line\n  type u, default 3, from 1 to 9\n"))
        #expect(
            tool("explain", "org.example.Pen", "color").hasSuffix(
                "Schema org.example.Pen\n  type s, default \"red\", one of red, blue\n"))
        #expect(!tool("explain", "org.example.Pen", "other").contains("Schema"))
        #expect(
            tool("explain", "org.example.Pen", "width", "--json").contains(
                #""schema":{"id":"org.example.Pen","type":"u","default":3,"summary":"Width of the line","#
                    + #""description":"In pixels.","range":[1,9]}"#))
        #expect(!tool("explain", "org.example.Pen", "other", "--json").contains("schema"))
    }
}
