import DBus
import DconfFiles
import DefaultsDconf
import DefaultsProtocol
import KeyedArchive
import TestSupport
import TestTiers
import Testing

/// The values of settings in archives, with and without a schema.
@Suite(.startsPrograms) struct ValueTests {
    private static let none = SchemaIndex { SchemaCatalog(directories: []) }
    private let path = SettingsPath("/org/example/Values/key")

    @Test(arguments: 0..<40 as Range<UInt64>)
    func `every value of dconf comes back exactly`(seed: UInt64) throws {
        let path = try #require(path)
        var random = RandomValues(SeededGenerator(case: seed))
        for _ in 0..<50 {
            let value = random.value(of: random.type())
            let archive = try Self.none.archive(of: value, at: path)
            let back = try #require(try Self.none.value(of: archive, at: path))
            #expect(back.type == value.type)
            #expect(try back.ordered.gvariant() == value.ordered.gvariant(), "\(value)")
        }
    }

    @Test func `a value keeps its type when the schema of an app is removed`() throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            """
            <schemalist><schema id="org.example.Values" path="/org/example/Values/">
            <key name="u" type="u"><default>1</default></key>
            <key name="pair" type="(id)"><default>(1, 2.0)</default></key>
            <key name="texts" type="as"><default>[]</default></key>
            </schema></schemalist>
            """, to: "a.gschema.xml")
        let compiled = ProgramResult.run(["glib-compile-schemas", directory.path])
        try #require(compiled.status == 0, "\(compiled)")
        let folder = directory.path
        let schemas = SchemaIndex { SchemaCatalog(directories: [folder]) }
        func form(_ value: ExactValue, _ name: String) throws -> (Value, ExactValue?) {
            let path = try #require(SettingsPath("/org/example/Values/\(name)"))
            let archive = try schemas.archive(of: value, at: path)
            return (try VariantForm.value(of: archive), try schemas.value(of: archive, at: path))
        }
        let number = ExactValue(.uint32, .integer(7))
        let (stored, back) = try form(number, "u")
        #expect(ExactValue.isMarker(stored) && back == number)
        let plain = try #require(path)
        #expect(try Self.none.value(of: VariantForm.archive(of: stored), at: plain) == number)
        // A value of another type than that of the schema keeps its own.
        for other in [ExactValue(.int32, .integer(7)), ExactValue(.int64, .integer(7))] {
            let (stored, back) = try form(other, "u")
            #expect(ExactValue.isMarker(stored) && back == other)
        }
        let pair = ExactValue(
            .tuple([.int32, .double]),
            .elements([ExactValue(.int32, .integer(1)), ExactValue(.double, .double(2))]))
        #expect(try form(pair, "pair").1 == pair)
        let texts = ExactValue(.array(.string), .elements([]))
        #expect(try form(texts, "texts").1 == texts)
        #expect(try !ExactValue.isMarker(form(texts, "texts").0))
        #expect(schemas.families == [DomainFamily(of: "org.example.Other")])
    }

    @Test func `a value that people have set has the type that most settings have`() throws {
        let path = try #require(path)
        func value(_ form: Value) throws -> ExactValue? {
            try Self.none.value(of: VariantForm.archive(of: form), at: path)
        }
        #expect(try value(.int64(5))?.type == .int32)
        #expect(try value(.int64(1 << 40))?.type == .int64)
        #expect(try value(.double(5))?.type == .double)
        #expect(try value(.array(of: "v", [.variant(.string("a"))]))?.type == .array(.string))
        #expect(try value(.array(of: "v", [.variant(.int64(1))]))?.type == .array(.variant))
    }

    @Test func `domains of this service and of other interfaces are never published`() {
        let families: Set<DomainFamily> = [
            DomainFamily(of: "org.gnome"), DomainFamily(of: "org.defaultsd"),
        ]
        func isPublished(_ domain: String) -> Bool {
            DconfDomains.arePublished(domain, families: families)
        }
        #expect(isPublished("org.gnome.desktop.interface") && isPublished("org.gnome"))
        #expect(isPublished("GSettings") && !isPublished("org.example.App"))
        #expect(!isPublished("org.defaultsd.Grants") && !isPublished("xfconf.xfwm4"))
        #expect(!isPublished("org") && !isPublished("NSGlobalDomain"))
    }
}

extension ExactValue {
    /// The same with the entries of dictionaries in an order that follows from them.
    ///
    /// Archives do not keep their order.
    fileprivate var ordered: ExactValue {
        switch content {
        case .variant(let value): return ExactValue(type, .variant(value.ordered))
        case .elements(let elements):
            let parts = elements.map(\.ordered)
            guard case .array(.entry) = type else { return ExactValue(type, .elements(parts)) }
            let bytes = parts.map { ((try? $0.gvariant()) ?? [], $0) }
            return ExactValue(
                type,
                .elements(bytes.sorted { $0.0.lexicographicallyPrecedes($1.0) }.map(\.1)))
        default: return self
        }
    }
}
