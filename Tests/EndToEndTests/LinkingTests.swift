import TestSupport
import TestTiers
import Testing

/// How the programs are linked.
@Suite(.startsPrograms, .serialized) struct LinkingTests {
    private static let shared = ["libdbus-1.so", "libexpat.so", "libm.so", "libc.so"]

    @Test(arguments: [
        ("defaultsd", shared + ["libsqlite3.so"]), ("defaultsctl", shared),
    ])
    func `A program is hardened, and loads no library that it can do without`(
        program: String, libraries: [String]
    ) throws {
        let header = try inspected(program, "--file-header", "--program-headers", "--dynamic")
        // Its addresses are random, and what the dynamic linker writes is read-only afterwards.
        #expect(header.contains("DYN (Position-Independent Executable file)"))
        #expect(header.contains(/\(FLAGS_1\).* NOW\b.* PIE\b/))
        #expect(header.contains(#/GNU_RELRO .* R /#))
        // It loads no library from its own directory.
        #expect(!header.contains("RUNPATH") && !header.contains("RPATH"))
        #expect(header.contains(#/GNU_STACK .* RW /#))
        let needed = header.matches(of: /\(NEEDED\).*\[(.*?\.so)/).map { String($0.1) }
        #expect(
            Set(needed).subtracting(["ld-linux-x86-64.so", "ld-linux-aarch64.so"]) == Set(libraries)
        )
    }

    @Test(arguments: ["defaultsd", "defaultsctl"])
    func `The relocations of a program are packed`(program: String) throws {
        let dynamic = try inspected(program, "--dynamic")
        let sizes = dynamic.matches(of: /\((RELASZ|RELRSZ)\) +(\d+)/)
            .map { (name: $0.1, bytes: Int($0.2) ?? .max) }
        #expect(sizes.map(\.name).sorted() == ["RELASZ", "RELRSZ"])
        #expect(sizes.allSatisfy { $0.bytes < 32_768 }, "\(sizes)")
    }

    @Test func `The daemon contains no library of regular expressions`() throws {
        #expect(try !symbols(of: "defaultsd").contains("$s12_RegexParser"))
    }

    @Test func `The daemon links no Foundation, and no module of it imports one`() throws {
        let dynamic = try inspected("defaultsd", "--dynamic")
        #expect(!dynamic.contains("Foundation") && !dynamic.contains("libswift"))
        // Linked statically it would show in the symbols, mangled with its module's name.
        let symbols = try symbols(of: "defaultsd")
        #expect(symbols.contains("$s15DefaultsService"))
        #expect(
            !symbols.contains("$s10Foundation") && !symbols.contains("$s20FoundationEssentials"))
        let imports = try Desktop().run(
            "grep", "-rnE", "--include=*.swift", "--exclude-dir=DefaultsFoundation",
            "--exclude-dir=Examples",
            "import (Foundation|FoundationEssentials)\\b", Desktop.packageDirectory + "Sources")
        #expect(imports.output == "")
    }

    private func inspected(_ program: String, _ options: String...) throws -> String {
        try Desktop().run(
            ["readelf", "--wide"] + options + ["\(Desktop.programs)/\(program)"]
        ).requireOutput()
    }

    private func symbols(of program: String) throws -> String {
        try Desktop().run("nm", "--format=just-symbols", "\(Desktop.programs)/\(program)")
            .requireOutput()
    }
}
