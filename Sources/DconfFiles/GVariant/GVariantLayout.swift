internal import DefaultsProtocol

/// How the values of a type are laid out in bytes.
///
/// The layout of a container is made of the layouts of its parts, so it is made once for a type and
/// not for each value.
struct GVariantLayout: Sendable {
    let type: ExactType
    /// A value begins at a multiple of this, counted from the beginning of the whole.
    let alignment: Int
    /// The size that all values have; nil if they differ.
    let fixedSize: Int?
    /// The layout of the element or the content, or those of the fields.
    let parts: [GVariantLayout]

    init(of type: ExactType) {
        switch type {
        case .boolean, .byte: self.init(type, size: 1)
        case .int16, .uint16: self.init(type, size: 2)
        case .int32, .uint32: self.init(type, size: 4)
        case .int64, .uint64, .double: self.init(type, size: 8)
        case .string, .objectPath, .signature: self.init(type, alignment: 1)
        case .variant: self.init(type, alignment: 8)
        case .maybe(let part), .array(let part):
            let part = GVariantLayout(of: part)
            self.init(type, alignment: part.alignment, parts: [part])
        case .tuple(let fields): self.init(type, fields: fields)
        case .entry(let key, let value): self.init(type, fields: [key, value])
        }
    }

    private init(_ type: ExactType, size: Int) {
        self.init(type, alignment: size, fixedSize: size)
    }

    private init(
        _ type: ExactType, alignment: Int, fixedSize: Int? = nil, parts: [GVariantLayout] = []
    ) {
        self.type = type
        self.alignment = alignment
        self.fixedSize = fixedSize
        self.parts = parts
    }

    /// A tuple has a fixed size if all fields have one.
    ///
    /// The empty tuple has one byte, so that an array of them has a length.
    private init(_ type: ExactType, fields: [ExactType]) {
        let parts = fields.map(GVariantLayout.init)
        let alignment = parts.map(\.alignment).max() ?? 1
        var size: Int? = 0
        for part in parts {
            size = size.flatMap { size in
                part.fixedSize.map { size.aligned(to: part.alignment) + $0 }
            }
        }
        self.init(
            type, alignment: alignment,
            fixedSize: size.map { max(1, $0.aligned(to: alignment)) }, parts: parts)
    }
}

extension Int {
    /// The next multiple of a power of two.
    func aligned(to alignment: Int) -> Int {
        (self + alignment - 1) & ~(alignment - 1)
    }
}

/// The offsets at the end of a container, which say where its parts end.
enum FramingOffsets {
    /// The size of each offset in a container that has this size with all its offsets.
    static func size(inContainerOf byteCount: Int) -> Int {
        switch byteCount {
        case 0: 0
        case ...0xFF: 1
        case ...0xFFFF: 2
        case ...0xFFFF_FFFF: 4
        default: 8
        }
    }

    /// The smallest size of each offset with which a container can be written.
    static func size(for count: Int, afterPartsOf byteCount: Int) -> Int {
        guard count > 0 else { return 0 }
        return [1, 2, 4].first { size(inContainerOf: byteCount + count * $0) <= $0 } ?? 8
    }
}

/// The limits of values in GVariant's form.
package enum GVariantLimits {
    /// The most variants inside each other.
    package static let maximumVariantDepth = 64
    /// The most containers inside each other, variants among them; GLib has the same limit.
    package static let maximumDepth = 128
}
