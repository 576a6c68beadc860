import Foundation
import TestSupport
import TestTiers
import Testing

@testable import ToolHarness

/// What the tool does with GSettings schemas.
@Suite(.startsPrograms) struct SchemaToolTests {
    /// A desktop with schemas, and the environment of programs that find them.
    private struct Pens {
        let desktop: Desktop
        let environment: [String: String]

        init() throws {
            desktop = try Desktop()
            let folder = desktop.directory.path + "/schemas"
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: false)
            try FileManager.default.copyItem(
                atPath: TestSchemas.directory + "/pens.gschema.xml",
                toPath: folder + "/pens.gschema.xml")
            try ProgramResult.run(["glib-compile-schemas", folder]).requireOutput()
            var environment = desktop.environment
            environment["GSETTINGS_SCHEMA_DIR"] = folder
            environment["XDG_DATA_DIRS"] = folder
            self.environment = environment
        }

        func tool(_ arguments: [String], input: String = "") -> ProgramResult {
            desktop.run(
                [Desktop.programs + "/defaultsctl"] + arguments, environment: environment,
                input: input)
        }

        /// What is stored, as JSON.
        func stored(_ key: String, in domain: String = "org.example.Pen") -> String {
            tool(["read", domain, key, "--json"]).output.trimmingCharacters(in: .newlines)
        }
    }

    @Test(arguments: [
        ("width", "5", "5"), ("color", "blue", "\"blue\""), ("on", "true", "true"),
        ("on", "no", "false"), ("on", "1", "true"), ("ratio", "2", "2.0"), ("ratio", "0.5", "0.5"),
        ("name", "5", "\"5\""), ("name", "true", "\"true\""), ("list", "(a, b)", #"["a","b"]"#),
        ("marks", "(bold)", #"["bold"]"#),
    ])
    func `A word without a type has the type of the schema`(
        key: String, word: String, stored: String
    ) throws {
        let pens = try Pens()
        let result = pens.tool(["write", "org.example.Pen", key, word])
        #expect(result.status == 0 && result.error == "", "\(result)")
        #expect(pens.stored(key) == stored)
    }

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
