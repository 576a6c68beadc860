/// A binary property list put together by hand: the bytes of each object, and the table after them.
struct RawList {
    var objects: [[UInt8]]
    var root = 0
    var offsetWidth = 1
    var referenceWidth = 1
    /// What the trailer says, if it is wrong.
    var claimedCount: UInt64?
    var claimedTable: UInt64?

    init(_ objects: [UInt8]...) {
        self.objects = objects
    }

    init(objects: [[UInt8]]) {
        self.objects = objects
    }

    var bytes: [UInt8] {
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        for object in objects {
            offsets.append(bytes.count)
            bytes += object
        }
        let table = bytes.count
        for offset in offsets { bytes += Self.bigEndian(UInt64(offset), width: offsetWidth) }
        bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetWidth), UInt8(referenceWidth)]
        bytes += Self.bigEndian(claimedCount ?? UInt64(objects.count), width: 8)
        bytes += Self.bigEndian(UInt64(root), width: 8)
        bytes += Self.bigEndian(claimedTable ?? UInt64(table), width: 8)
        return bytes
    }

    static func bigEndian(_ value: UInt64, width: Int) -> [UInt8] {
        (0..<width).reversed().map { UInt8(truncatingIfNeeded: $0 < 8 ? value >> (8 * $0) : 0) }
    }
}
