import KeyedArchive
import TestSupport

/// Asks a decoder for whatever comes to its mind, and goes on after errors, as no well-behaved type
/// does; the same archive is asked the same.
struct ProbeCheck {
    private let archive: KeyedArchive

    init(_ archive: KeyedArchive) {
        self.archive = archive
    }

    func run() throws {
        var decoder = KeyedArchiveDecoder.small
        var random = SeededGenerator(bytes: archive.bytes)
        for _ in 0..<4 {
            decoder.userInfo[Probe.seedKey] = random.next()
            do {
                _ = try decoder.decode(Probe.self, from: archive)
            } catch {
                try Refusals.check(error, of: archive.bytes)
            }
        }
    }
}

/// A type that asks its decoder at random.
private struct Probe: Decodable {
    static let seedKey: CodingUserInfoKey = {
        guard let key = CodingUserInfoKey(rawValue: "seed") else {
            preconditionFailure("A key can have any name.")
        }
        return key
    }()
    private static let depthLimit = 6

    init(from decoder: any Decoder) throws {
        let seed = decoder.userInfo[Self.seedKey] as? UInt64 ?? 0
        let path = decoder.codingPath.map(\.stringValue).joined(separator: "/")
        try self.init(from: decoder, SeededGenerator(bytes: "\(seed)/\(path)".utf8))
    }

    private init(from decoder: any Decoder, _ random: SeededGenerator) throws {
        var random = random
        guard decoder.codingPath.count < Self.depthLimit else { return }
        for _ in 0...random.below(2) {
            try Self.tolerantly(&random) { random in
                switch random.below(3) {
                case 0: try Self.askKeyed(decoder.container(keyedBy: AnyKey.self), &random)
                case 1: try Self.askUnkeyed(decoder.unkeyedContainer(), &random)
                default: try Self.askSingle(decoder.singleValueContainer(), &random)
                }
            }
        }
    }

    /// Half of the errors are passed on.
    private static func tolerantly(
        _ random: inout SeededGenerator, _ body: (inout SeededGenerator) throws -> Void
    ) throws {
        do {
            try body(&random)
        } catch {
            if random.below(2) == 0 { throw error }
        }
    }

    private static func askKeyed(
        _ container: KeyedDecodingContainer<AnyKey>, _ random: inout SeededGenerator
    ) throws {
        let keys = container.allKeys + [AnyKey(stringValue: random.element(of: Words.names))]
        for _ in 0..<4 {
            let key = random.element(of: keys)
            try tolerantly(&random) { random in
                switch random.below(12) {
                case 0: _ = try container.decode(Probe.self, forKey: key)
                case 1: _ = try container.decodeIfPresent(Probe.self, forKey: key)
                case 2: _ = try container.decodeNil(forKey: key)
                case 3:
                    let nested = try container.nestedContainer(keyedBy: AnyKey.self, forKey: key)
                    try askKeyed(nested, &random)
                case 4: try askUnkeyed(container.nestedUnkeyedContainer(forKey: key), &random)
                case 5: _ = try Probe(from: container.superDecoder(forKey: key))
                // The path stays as it is, so with the same numbers this would never end.
                case 6 where random.below(2) == 0:
                    _ = try Probe(from: container.superDecoder(), random)
                case 7: _ = try container.decode(Int8.self, forKey: key)
                case 8: _ = try container.decodeIfPresent(String.self, forKey: key)
                case 9: _ = try container.decode([String: [Probe]].self, forKey: key)
                case 10: _ = try container.decode(UInt128.self, forKey: key)
                default: _ = container.contains(key)
                }
            }
        }
    }

    private static func askUnkeyed(
        _ container: any UnkeyedDecodingContainer, _ random: inout SeededGenerator
    ) throws {
        var container = container
        // Also past the end.
        for _ in 0..<min(10, (container.count ?? 3) + 2) {
            try tolerantly(&random) { random in
                switch random.below(8) {
                case 0: _ = try container.decode(Probe.self)
                case 1: _ = try container.decodeIfPresent(Probe.self)
                case 2: _ = try container.decodeNil()
                case 3: try askKeyed(container.nestedContainer(keyedBy: AnyKey.self), &random)
                case 4: try askUnkeyed(container.nestedUnkeyedContainer(), &random)
                case 5: _ = try Probe(from: container.superDecoder())
                case 6: _ = try container.decode(Float.self)
                default: _ = try container.decode([Probe?].self)
                }
            }
        }
    }

    private static func askSingle(
        _ container: any SingleValueDecodingContainer, _ random: inout SeededGenerator
    ) throws {
        switch random.below(7) {
        case 0: _ = container.decodeNil()
        case 1: _ = try container.decode(Bool.self)
        case 2: _ = try container.decode(UInt64.self)
        case 3: _ = try container.decode([Probe].self)
        case 4: _ = try container.decode(Set<String>.self)
        case 5: _ = try container.decode([Int: Probe].self)
        default: _ = try container.decode(String?.self)
        }
    }
}
