import DconfFiles
import DefaultsProtocol
import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// What GLib says about schemas is what the catalog says.
@Suite(.startsPrograms) struct SchemaCatalogTests {
    /// Schemas with all that the compiled form has.
    private static let schemas = """
        <schemalist>
          <enum id="org.example.size">
            <value nick="xs" value="0"/><value nick="one" value="1"/><value nick="four" value="2"/>
            <value nick="three" value="3"/><value nick="eleven" value="11"/>
          </enum>
          <flags id="org.example.marks">
            <value nick="bold" value="1"/><value nick="italic" value="2"/>
          </flags>
          <schema id="org.example.base" path="/org/example/base/" gettext-domain="example">
            <key name="size" enum="org.example.size">
              <default>'four'</default>
              <aliases><alias value="big" target="eleven"/></aliases>
              <summary>How  large
                it is</summary>
              <description>
                The first paragraph
                goes on.

                The second one.
              </description>
            </key>
            <key name="marks" flags="org.example.marks"><default>['bold']</default></key>
            <key name="choice" type="s">
              <choices><choice value="left"/><choice value="right"/></choices>
              <default>'left'</default>
            </key>
            <key name="list" type="as">
              <choices><choice value="a"/><choice value="b"/></choices>
              <default>['b']</default>
            </key>
            <key name="ratio" type="d"><range min="0.5" max="2"/><default>1.5</default></key>
            <key name="count" type="u"><range max="9"/><default>3</default></key>
            <key name="title" type="s"><default l10n="messages">'Hello'</default></key>
            <key name="maybe" type="m(sv)"><default>('a', &lt;1&gt;)</default></key>
            <child name="inner" schema="org.example.inner"/>
          </schema>
          <schema id="org.example.inner" path="/org/example/base/inner/">
            <key name="flag" type="b"><default>true</default></key>
          </schema>
          <schema id="org.example.common">
            <key name="count" type="u"><range max="9"/><default>3</default></key>
            <key name="size" enum="org.example.size"><default>'xs'</default></key>
          </schema>
          <schema id="org.example.derived" extends="org.example.common" path="/elsewhere/derived/">
            <override name="count">5</override>
            <key name="more" type="i"><default>-1</default></key>
          </schema>
          <schema id="org.example.relocatable">
            <key name="flag" type="b"><default>false</default></key>
          </schema>
        </schemalist>
        """

    private static let overrides = """
        [org.example.base]
        ratio=0.75

        [org.example.base:Example]
        choice='right'
        maybe=nothing
        """

    /// A directory with these schemas, compiled.
    private func folder(_ schemas: String = schemas) throws -> TemporaryDirectory {
        let folder = try TemporaryDirectory()
        try folder.write(schemas, to: "org.example.gschema.xml")
        try folder.write(Self.overrides, to: "org.example.gschema.override")
        try ProgramResult.run(["glib-compile-schemas", "--strict", folder.path]).requireOutput()
        return folder
    }

    /// Each schema and key that GLib has in an environment, with type, default value and rule.
    private func oracle(_ environment: [String: String]) throws -> [String] {
        let program =
            GLibValue.notation + """

                from gi.repository import Gio
                source = Gio.SettingsSchemaSource.get_default()
                for name in sum(source.list_schemas(True), []):
                    schema = source.lookup(name, True)
                    print("schema", name, schema.get_path() or "-")
                    for key in schema.list_keys():
                        key = schema.get_key(key)
                        kind, rule = (key.get_range().get_child_value(i) for i in range(2))
                        kind, rule = kind.get_string(), notation(rule.get_variant())
                        print("key", name, key.get_name(), key.get_value_type().dup_string(),
                              notation(key.get_default_value()), kind, "" if kind == "type" else rule)
                """
        let result = ProgramResult.run(
            ["/usr/bin/python3", "-c", program],
            environment: environment.merging(["LC_ALL": "C", "HOME": "/nonexistent"]) { $1 })
        return try result.requireOutput().split(separator: "\n").map(String.init)
    }

    /// The same of the catalog.
    private func lines(_ catalog: SchemaCatalog) throws -> [String] {
        try catalog.schemaNames.flatMap { name in
            let schema = try #require(catalog.schema(named: name))
            return try ["schema \(name) \(schema.path ?? "-")"]
                + schema.keyNames.map { key in
                    let key = try #require(schema.key(named: key))
                    return "key \(name) \(key.name) \(key.type) \(key.defaultValue.notation) "
                        + words(for: key.rule)
                }
        }
    }

    private func words(for rule: SettingsSchema.Rule) -> String {
        func list(_ texts: [String]) -> String {
            ExactValue(
                .array(.string), .elements(texts.map { ExactValue(.string, .string($0)) })
            ).notation
        }
        return switch rule {
        case .any: "type "
        case .choices(let texts): "enum " + list(texts)
        case .flags(let texts): "flags " + list(texts)
        case .range(let least, let greatest): "range [\(least.notation),\(greatest.notation)]"
        }
    }

    private func compare(_ environment: [String: String]) throws -> Int {
        let catalog = SchemaCatalog(environment: environment)
        #expect(catalog.problems.isEmpty)
        let (ours, theirs) = (try lines(catalog), try oracle(environment))
        #expect(Set(ours).subtracting(theirs) == [])
        #expect(Set(theirs).subtracting(ours) == [])
        #expect(ours.count == theirs.count)
        return ours.count
    }

    @Test(arguments: ["", "Other:Example", "Example"])
    func `All that a schema can have is as GLib says`(desktop: String) throws {
        let folder = try folder()
        let count = try compare([
            "GSETTINGS_SCHEMA_DIR": folder.path, "XDG_DATA_DIRS": "/nonexistent",
            "XDG_CURRENT_DESKTOP": desktop,
        ])
        #expect(count == 5 + 8 + 1 + 2 + 3 + 1)
    }

    @Test(
        .enabled(
            if: access("/usr/share/glib-2.0/schemas/gschemas.compiled", R_OK) == 0,
            "no schemas are installed; install gsettings-desktop-schemas"))
    func `Every key of every installed schema is as GLib says`() throws {
        #expect(try compare([:]) > 0)
    }

    @Test func `An earlier directory counts`() throws {
        let (first, second) = (try folder(), try TemporaryDirectory())
        let changed = Self.schemas.replacingOccurrences(of: ">-1<", with: ">-2<")
        let home = second.path + "/glib-2.0/schemas"
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        let other = try folder(changed)
        try FileManager.default.copyItem(
            atPath: other.path + "/gschemas.compiled", toPath: home + "/gschemas.compiled")
        for environment in [
            ["XDG_DATA_HOME": second.path, "XDG_DATA_DIRS": "/nonexistent"],
            ["XDG_DATA_HOME": "/nonexistent", "XDG_DATA_DIRS": "/nonexistent:\(second.path)"],
            ["XDG_DATA_HOME": second.path, "GSETTINGS_SCHEMA_DIR": first.path],
            ["XDG_DATA_HOME": second.path, "GSETTINGS_SCHEMA_DIR": "\(other.path):\(first.path)"],
        ] {
            #expect(try compare(environment) > 0)
        }
    }

    @Test func `A key is found by its path`() throws {
        let folder = try folder()
        let catalog = SchemaCatalog(directories: [folder.path])
        func key(_ path: String) throws -> SettingsSchema.Key? {
            catalog.key(at: try #require(SettingsPath(path)))
        }
        let ratio = try #require(try key("/org/example/base/ratio"))
        #expect(ratio.schema == "org.example.base" && ratio.type == .double)
        let count = try #require(try key("/elsewhere/derived/count"))
        #expect(count.schema == "org.example.derived" && count.defaultValue.notation == "5")
        #expect(try key("/org/example/base/inner/flag")?.schema == "org.example.inner")
        for path in ["/org/example/base/inner", "/org/example/base/other", "/flag", "/org/flag"] {
            #expect(try key(path) == nil)
        }
    }

    @Test(arguments: [true, false])
    func `Summaries and descriptions are as GLib says`(isInstalled: Bool) throws {
        let folder = try folder()
        let environment =
            isInstalled
            ? [:] : ["GSETTINGS_SCHEMA_DIR": folder.path, "XDG_DATA_DIRS": "/nonexistent"]
        let program = """
            import json
            from gi.repository import Gio
            source = Gio.SettingsSchemaSource.get_default()
            for name in sum(source.list_schemas(True), []):
                schema = source.lookup(name, True)
                for key in schema.list_keys():
                    key = schema.get_key(key)
                    words = [key.get_summary() or "", key.get_description() or ""]
                    if any(words): print(name, key.get_name(), *(w.encode().hex() + "." for w in words))
            """
        let result = ProgramResult.run(
            ["/usr/bin/python3", "-c", program],
            environment: environment.merging(["LC_ALL": "C", "HOME": "/nonexistent"]) { $1 })
        let catalog = SchemaCatalog(environment: environment)
        let lines = try result.requireOutput().split(separator: "\n")
        #expect(isInstalled || lines.count == 1)
        for line in lines {
            let words = line.split(separator: " ").map(String.init)
            let key = try #require(catalog.schema(named: words[0])?.key(named: words[1]))
            let texts = catalog.texts(of: key)
            #expect(Self.hexadecimal(texts?.summary) == words[2])
            #expect(Self.hexadecimal(texts?.description) == words[3])
        }
    }

    private static func hexadecimal(_ text: String?) -> String {
        (text ?? "").utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "."
    }

    @Test func `A key without texts has none, and a wrong file is ignored`() throws {
        let folder = try folder()
        let catalog = SchemaCatalog(directories: [folder.path])
        let base = try #require(catalog.schema(named: "org.example.base"))
        let (count, size) = (try #require(base.key(named: "count")), base.key(named: "size"))
        let none = try #require(catalog.texts(of: count))
        #expect(none.summary == nil && none.description == nil)
        for text in [
            "", "<", "<schemalist><schema id='org.example.base'>", "\0",
            "<!DOCTYPE a [<!ENTITY a 'b'>]>" + Self.schemas,
        ] {
            try folder.write(text, to: "org.example.gschema.xml")
            #expect(catalog.texts(of: try #require(size)) == nil)
        }
    }

    @Test func `A compiled file that is wrong is a problem, and not the end`() throws {
        let good = try folder()
        let bad = try TemporaryDirectory()
        try bad.write("text", to: "gschemas.compiled")
        let directories = ["/nonexistent", bad.path, good.path]
        let catalog = SchemaCatalog(directories: directories)
        #expect(catalog.problems.map(\.reason) == ["The file is not a GVDB file."])
        #expect(catalog.schemaNames.count == 5)
    }

    @Test func `Each byte of a compiled file can be wrong`() throws {
        let folder = try folder()
        let path = URL(filePath: folder.path + "/gschemas.compiled")
        let bytes = Array(try Data(contentsOf: path))
        var random = SeededGenerator()
        for offset in Thoroughness.places(in: bytes.count) {
            var changed = bytes
            changed[offset] =
                [0, 1, 0xFF, bytes[offset] ^ 1].randomElement(using: &random) ?? 0
            try Data(changed).write(to: path)
            let catalog = SchemaCatalog(directories: [folder.path])
            for name in catalog.schemaNames {
                guard let schema = catalog.schema(named: name) else { continue }
                for key in schema.keyNames { _ = schema.key(named: key) }
            }
        }
    }
}
