internal import Foundation
internal import KeyedArchive
internal import PropertyList

/// Index sets, plain structs and intervals of time in an archive.
extension ObjectCollector {
    func content(ofValue object: NSObject, in node: NodeIndex) -> ObjectGraph.Node? {
        switch object {
        case let set as NSIndexSet: return content(of: set, in: node)
        case let value as NSValue: return content(of: value, in: node)
        case let interval as NSDateInterval:
            return known(
                "NSDateInterval",
                [
                    "NS.duration": .scalar(.real(interval.duration)),
                    "NS.endDate": reference(to: interval.endDate, in: node, as: "NS.endDate"),
                    "NS.startDate": reference(to: interval.startDate, in: node, as: "NS.startDate"),
                ])
        default: return nil
        }
    }

    private func content(of set: NSIndexSet, in node: NodeIndex) -> ObjectGraph.Node? {
        let name: Text = set is NSMutableIndexSet ? "NSMutableIndexSet" : "NSIndexSet"
        let integers = set.packedRanges
        guard IndexRanges.ranges(integers) != nil else { return nil }
        let count = ObjectGraph.Value.scalar(.integer(Int128(integers.count / 2)))
        switch integers.count {
        case 0:
            return known(name, ["NSRangeCount": count])
        case 2:
            return known(
                name,
                [
                    "NSLength": .scalar(.integer(Int128(integers[1]))),
                    "NSLocation": .scalar(.integer(Int128(integers[0]))), "NSRangeCount": count,
                ])
        default:
            let data = reference(
                to: Data(PackedIntegers.pack(integers)), in: node, as: "NSRangeData")
            return known(name, ["NSRangeCount": count, "NSRangeData": data])
        }
    }

    private func content(of value: NSValue, in node: NodeIndex) -> ObjectGraph.Node? {
        guard let kind = PlainStruct(in: value) else {
            fail(.unsupportedStruct(String(cString: value.objCType)), at: node)
            return nil
        }
        let special = ObjectGraph.Value.scalar(.integer(Int128(kind.rawValue)))
        func text(_ name: Text, _ text: String) -> ObjectGraph.Node {
            let field = reference(to: text, in: node, as: name.description)
            return known("NSValue", [name: field, "NS.special": special])
        }
        switch kind {
        case .point: return text("NS.pointval", GeometryText.of(value.pointValue))
        case .size: return text("NS.sizeval", GeometryText.of(value.sizeValue))
        case .rectangle: return text("NS.rectval", GeometryText.of(value.rectValue))
        case .range: return content(of: value.rangeValue, special, in: node)
        }
    }

    private func content(
        of range: NSRange, _ special: ObjectGraph.Value, in node: NodeIndex
    ) -> ObjectGraph.Node? {
        guard range.isInBounds else {
            fail(.badObject("NSValue", needs: NSRange.need), at: node)
            return nil
        }
        let (length, location) = ("NS.rangeval.length", "NS.rangeval.location")
        return known(
            "NSValue",
            [
                Text(length): reference(to: range.length, in: node, as: length),
                Text(location): reference(to: range.location, in: node, as: location),
                "NS.special": special,
            ])
    }
}

extension NSRange {
    /// Why a range that is not in bounds is refused.
    static let need: StaticString = "its range is negative, or ends after the largest integer"

    /// Whether the range has an end that can be computed; `NSNotFound` without a length has one.
    var isInBounds: Bool {
        location >= 0 && length >= 0 && !location.addingReportingOverflow(length).overflow
    }
}
