internal import Foundation
internal import KeyedArchive
internal import PropertyList

/// Index sets, plain structs and intervals of time from an archive.
///
/// Each function notes an error and returns nil if the fields are wrong.
extension ObjectMaker {
    func indexSet(
        isMutable: Bool, with fields: FieldDecoder, at index: ObjectIndex
    ) -> NSIndexSet? {
        guard let ranges = ranges(with: fields), spend(ranges.count) else {
            fail(
                .badObject(
                    "NSIndexSet",
                    needs: "its ranges are negative, overlap, or do not match their count"),
                at: index)
            return nil
        }
        let set = NSMutableIndexSet()
        for range in ranges { set.add(in: NSRange(range)) }
        return isMutable ? set : NSIndexSet(indexSet: set as IndexSet)
    }

    private func ranges(with fields: FieldDecoder) -> [Range<Int>]? {
        let count = fields.decodeInteger(forKey: "NSRangeCount")
        let integers: [Int]?
        switch count {
        case 0: integers = []
        case 1:
            integers = ["NSLocation", "NSLength"].map { fields.decodeInteger(forKey: $0) }
        default:
            integers = fields.decodeObject(of: NSData.self, forKey: "NSRangeData")
                .flatMap { PackedIntegers.unpack($0 as Data) }
        }
        guard log.first == nil, let ranges = integers.flatMap(IndexRanges.ranges),
            ranges.count == count
        else { return nil }
        return ranges
    }

    func value(with fields: FieldDecoder, at index: ObjectIndex) -> NSValue? {
        switch PlainStruct(rawValue: fields.decodeInteger(forKey: "NS.special")) {
        case .point:
            return numbers(2, "NS.pointval", with: fields, at: index)
                .map { NSValue(point: NSPoint(x: $0[0], y: $0[1])) }
        case .size:
            return numbers(2, "NS.sizeval", with: fields, at: index)
                .map { NSValue(size: NSSize(width: $0[0], height: $0[1])) }
        case .rectangle:
            return numbers(4, "NS.rectval", with: fields, at: index)
                .map { NSValue(rect: NSRect(x: $0[0], y: $0[1], width: $0[2], height: $0[3])) }
        case .range:
            return range(with: fields, at: index)
        case nil:
            fail(.otherStruct, at: index)
            return nil
        }
    }

    private func numbers(
        _ count: Int, _ name: String, with fields: FieldDecoder, at index: ObjectIndex
    ) -> [CGFloat]? {
        let text = fields.decodeObject(of: NSString.self, forKey: name)
        // The longest number has fewer characters; no more are looked at.
        guard let text, text.length < 100 * count,
            let numbers = GeometryText.numbers(in: text as String, count: count)
        else {
            fail(.badObject("NSValue", needs: "its text is not that of its struct"), at: index)
            return nil
        }
        return numbers
    }

    private func range(with fields: FieldDecoder, at index: ObjectIndex) -> NSValue? {
        let range = NSRange(
            location: fields.decodeInteger(forKey: "NS.rangeval.location"),
            length: fields.decodeInteger(forKey: "NS.rangeval.length"))
        guard range.isInBounds else {
            fail(.badObject("NSValue", needs: NSRange.need), at: index)
            return nil
        }
        return NSValue(range: range)
    }

    func dateInterval(with fields: FieldDecoder, at index: ObjectIndex) -> NSDateInterval? {
        guard let start = fields.decodeObject(of: NSDate.self, forKey: "NS.startDate") else {
            return nil
        }
        // Foundation on Linux writes the end, and others also the duration.
        let end = fields.optionalObject(of: NSDate.self, forKey: "NS.endDate")
        let duration =
            fields.containsValue(forKey: "NS.duration")
            ? fields.decodeDouble(forKey: "NS.duration") : end?.timeIntervalSince(start as Date)
        guard let duration, duration >= 0, duration.isFinite else {
            fail(.badObject("NSDateInterval", needs: "it ends before it begins"), at: index)
            return nil
        }
        return NSDateInterval(start: start as Date, duration: duration)
    }
}
