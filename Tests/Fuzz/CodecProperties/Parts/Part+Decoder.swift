import Foundation
import KeyedArchive

extension Part {
    /// The coding of Swift values: what is decoded can be encoded, and is decoded from that as the
    /// same; whatever a type asks of its decoder, it gets an answer or an error.
    static let decoder = Part("decoder") { bytes in
        guard let archive = try validated(bytes) else { return .refused }
        var hasDecoded = try CodingCheck<Anything>(archive).run()
        hasDecoded = try CodingCheck<Account>(archive).run() || hasDecoded
        hasDecoded = try CodingCheck<Holder>(archive).run() || hasDecoded
        hasDecoded = try CodingCheck<Node>(archive).run() || hasDecoded
        hasDecoded = try CodingCheck<[String: Anything]>(archive).run() || hasDecoded
        hasDecoded = try CodingCheck<[Int: String]>(archive).run() || hasDecoded
        hasDecoded = try CodingCheck<Set<String>>(archive).run() || hasDecoded
        hasDecoded = try CodingCheck<[Data]>(archive).run() || hasDecoded
        hasDecoded = try CodingCheck<Date>(archive).run() || hasDecoded
        hasDecoded = try CodingCheck<URL>(archive).run() || hasDecoded
        hasDecoded = try CodingCheck<UUID>(archive).run() || hasDecoded
        hasDecoded = try CodingCheck<Int128>(archive).run() || hasDecoded
        hasDecoded = try CodingCheck<Float?>(archive).run() || hasDecoded
        try checkNumbers(of: archive)
        try ProbeCheck(archive).run()
        return hasDecoded ? .accepted : .refused
    }
}

extension Part {
    /// A number is the same in each type that it fits.
    private static func checkNumbers(of archive: KeyedArchive) throws {
        func numbers<Number: BinaryInteger & Decodable>(_: Number.Type) -> [Int128]? {
            let numbers = try? KeyedArchiveDecoder.small.decode([Number].self, from: archive)
            return numbers?.map { Int128($0) }
        }
        guard let wide = numbers(Int128.self) else { return }
        let narrow = [numbers(Int8.self), numbers(UInt16.self), numbers(Int64.self)]
        try require(
            narrow.allSatisfy { $0 == nil || $0 == wide }, "A number is another one in a type.")
    }
}

/// The check of one type with one archive.
struct CodingCheck<Value: Codable> {
    private let archive: KeyedArchive
    private let decoder = KeyedArchiveDecoder.small
    private let encoder = KeyedArchiveEncoder()

    init(_ archive: KeyedArchive) {
        self.archive = archive
    }

    /// Whether the archive is a value of the type.
    func run() throws -> Bool {
        let value: Value
        do {
            value = try decoder.decode(Value.self, from: archive)
        } catch {
            try Refusals.check(error, of: archive.bytes)
            return false
        }
        let encoded: KeyedArchive
        do {
            encoded = try encoder.encode(value)
        } catch is EncodingError {
            // Text of an archive may be none that the type of the key or the class can have.
            return true
        }
        let bytes = encoded.bytes
        let validated = try KeyedArchive(validating: bytes)
        try require(
            try encoded.json(limits: .small) == validated.json(limits: .small),
            "An archive of \(Value.self) is another one when it is read.")
        try require(
            try encoder.encode(value).bytes == bytes,
            "A value of \(Value.self) was encoded in other bytes the second time.")
        var decoder = decoder
        // What shared an object in the archive is a value of its own now.
        decoder.limits.size = 64 << 20
        let again = try decoder.decode(Value.self, from: bytes)
        try require(
            try encoder.encode(again).bytes == bytes,
            "A value of \(Value.self) is decoded as another one.")
        return true
    }
}

extension KeyedArchiveDecoder {
    /// Limits that small inputs keep.
    static var small: KeyedArchiveDecoder {
        var decoder = KeyedArchiveDecoder()
        decoder.limits.depth = 100
        decoder.limits.size = 1 << 14
        return decoder
    }
}

extension Refusals {
    /// An error of the decoder is one of the standard library, and says where in the bytes.
    static func check(_ error: any Error, of bytes: [UInt8]) throws {
        let context: DecodingError.Context
        switch error {
        case DecodingError.typeMismatch(_, let its), DecodingError.valueNotFound(_, let its),
            DecodingError.keyNotFound(_, let its), DecodingError.dataCorrupted(let its):
            context = its
        default:
            throw error
        }
        if let cause = context.underlyingError as? ArchiveError {
            try require(
                (0...bytes.count).contains(cause.byteOffset), "\(error) is of no byte there is.")
        }
        try require(!context.debugDescription.isEmpty, "\(error) does not say what is wrong.")
    }
}
