import CodecProperties
import KeyedArchive
import PropertyList
import TestSupport
import Testing

/// Archives of one boolean, number or string, which are read and written without a walk over objects.
@Suite("Archives of scalars")
struct ScalarArchiveTests {
    /// Those that have the form.
    private static let scalars: [Scalar] =
        [.boolean(true), .boolean(false)]
        + integers.map(Scalar.integer) + reals.map(Scalar.real) + strings.map { .string(Text($0)) }
    private static let integers: [Int128] = [
        0, 1, -1, 255, 256, 65_535, 65_536, 99_999, 4_294_967_295, 4_294_967_296,
        Int128(Int64.max), Int128(Int64.min),
    ]
    private static let reals: [Double] = [
        0, -0.0, 1.5, 100_000, .infinity, .nan, .leastNonzeroMagnitude,
    ]
    private static let strings = [
        "", "a", "root2", "$", "nul \0", String(repeating: "x", count: 14),
        String(repeating: "x", count: 15), String(repeating: "x", count: 100),
    ]
    /// Those that have another form, because they are other objects of the archive or are spelled
    /// otherwise.
    private static let others: [Scalar] =
        [.integer(100_000), .integer(Int128(Int64.max) + 1), .integer(Int128.max), .null]
        + [
            "$null", "root", "NSKeyedArchiver", "$version", "$archiver", "$top", "$objects", "é",
            String(repeating: "x", count: 200), String(repeating: "x", count: 300),
        ].map { .string(Text($0)) }

    /// The bytes that are written for an archive of any objects.
    private static func bytes(of scalar: Scalar) -> [UInt8] {
        ArchiveWriter(nodeCount: 1) { _ in .scalar(scalar) }.archive(root: 0).bytes
    }

    @Test("are read from their bytes if they have the form")
    func read() throws {
        for scalar in Self.scalars {
            let bytes = Self.bytes(of: scalar)
            #expect(ScalarArchive(bytes) != nil, "\(scalar)")
            #expect(try Part.all.first { $0.name == "scalars" }?.check(bytes) == .accepted)
        }
        for scalar in Self.others {
            #expect(ScalarArchive(Self.bytes(of: scalar)) == nil, "\(scalar)")
        }
    }

    @Test("have the bytes of any other archive")
    func written() throws {
        for scalar in Self.scalars + Self.others {
            var builder = ValueFormBuilder()
            switch scalar {
            case .null: try builder.null()
            case .boolean(let flag): try builder.boolean(flag)
            case .integer(let number): try builder.integer(number)
            case .real(let number): try builder.real(number)
            case .string(let text): try builder.string(text)
            case .data, .date: Issue.record("This is no case of the test.")
            }
            #expect(builder.finish().bytes == Self.bytes(of: scalar), "\(scalar)")
        }
    }

    @Test("mean what their graph shows, or are left to it, with any bit changed")
    func changed() throws {
        let part = try #require(Part.all.first { $0.name == "scalars" })
        for scalar in Self.scalars {
            let bytes = Self.bytes(of: scalar)
            for position in bytes.indices {
                for bit in 0..<8 {
                    var changed = bytes
                    changed[position] ^= UInt8(1 << bit)
                    _ = try part.check(changed)
                }
            }
        }
    }
}
