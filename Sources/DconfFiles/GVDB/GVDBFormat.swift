/// The numbers of the GVDB format, for its reader and its writer.
enum GVDBFormat {
    static let signature = Array("GVariant".utf8)
    /// The signature if the other byte order wrote its two words.
    static let swappedSignature = Array("raVGtnai".utf8)
    /// The signature, the version, options, and the place of the outermost table.
    static let headerSize = 24
    /// The number of bloom words, and the number of buckets.
    static let tableHeaderSize = 8
    /// The hash, the parent, the place and the length of the name, the kind, and the content.
    static let itemSize = 24
    /// The other bits are a shift, which only a reader that uses the bloom words needs.
    static let bloomCountMask: UInt32 = (1 << 27) - 1
    /// What a table without bloom words has in the place of their number.
    static let noBloomWords: UInt32 = 5 << 27
    static let noParent = UInt32.max

    /// The hash of a name, which takes its bytes as signed.
    ///
    /// - Parameter start: The hash of what comes before, if the name is only the rest of one.
    static func hash(of name: some Sequence<UInt8>, after start: UInt32 = 5381) -> UInt32 {
        name.reduce(start) { $0 &* 33 &+ UInt32(bitPattern: Int32(Int8(bitPattern: $1))) }
    }
}

/// The bytes of a GVDB file, which are read within their bounds.
struct GVDBBytes: Sendable {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Where the outermost table is.
    func root() throws(GVDBError) -> Range<Int> {
        guard !bytes.starts(with: GVDBFormat.swappedSignature) else { throw .byteOrder }
        guard bytes.starts(with: GVDBFormat.signature), bytes.count >= GVDBFormat.headerSize else {
            throw .signature
        }
        guard number(8) == 0 else { throw .version(number(8)) }
        return try pointer(16, alignment: 4, "the outermost table")
    }

    func byte(_ offset: Int) -> UInt8 { bytes[offset] }

    func shortNumber(_ offset: Int) -> Int {
        Int(bytes[offset]) | Int(bytes[offset + 1]) << 8
    }

    func number(_ offset: Int) -> UInt32 {
        UInt32(shortNumber(offset)) | UInt32(shortNumber(offset + 2)) << 16
    }

    /// The range that a start and an end in the file give.
    func pointer(
        _ offset: Int, alignment: Int, _ what: String
    ) throws(GVDBError) -> Range<Int> {
        let (start, end) = (Int(number(offset)), Int(number(offset + 4)))
        guard start <= end, start.isMultiple(of: alignment) else { throw .place(what, at: start) }
        return try range(start..<end, what)
    }

    /// A range that is within the file.
    func range(_ range: Range<Int>, _ what: String) throws(GVDBError) -> Range<Int> {
        guard range.upperBound <= bytes.count else { throw .place(what, at: range.lowerBound) }
        return range
    }
}
