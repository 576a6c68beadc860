internal import Foundation
internal import KeyedArchive
internal import PropertyList

/// Attributed strings in an archive.
extension ObjectCollector {
    /// A string with one run of attributes has a dictionary; one with several has an array of
    /// dictionaries, and for each run its length and the number of its dictionary.
    func content(of string: NSAttributedString, in node: NodeIndex) -> ObjectGraph.Node {
        let name: Text =
            string is NSMutableAttributedString ? "NSMutableAttributedString" : "NSAttributedString"
        let runs = string.runs
        let text = reference(to: string.string, in: node, as: "NSString")
        guard let first = runs.first else { return known(name, ["NSString": text]) }
        guard runs.count > 1 else {
            let attributes = reference(to: first.attributes, in: node, as: "NSAttributes")
            // Foundation on Linux takes a missing field for a fault, and others read nil either way.
            return known(
                name,
                [
                    "NSAttributeInfo": .reference(nil), "NSAttributes": attributes,
                    "NSString": text,
                ])
        }
        let attributes = NSArray(array: runs.map(\.attributes))
        let info = PackedIntegers.pack(
            runs.enumerated().flatMap { [$0.element.length, $0.offset] })
        return known(
            name,
            [
                "NSAttributeInfo": reference(to: Data(info), in: node, as: "NSAttributeInfo"),
                "NSAttributes": reference(to: attributes, in: node, as: "NSAttributes"),
                "NSString": text,
            ])
    }
}

extension NSAttributedString {
    /// The parts with the same attributes, in their order.
    fileprivate var runs: [(length: Int, attributes: NSDictionary)] {
        var runs: [(length: Int, attributes: NSDictionary)] = []
        var location = 0
        while location < length {
            var range = NSRange(location: location, length: 0)
            let attributes = attributes(at: location, effectiveRange: &range)
            guard NSMaxRange(range) > location else { break }
            let entries = attributes.map { ($0.key.rawValue, $0.value) }
            runs.append(
                (
                    NSMaxRange(range) - location,
                    NSDictionary(dictionary: Dictionary(uniqueKeysWithValues: entries))
                ))
            location = NSMaxRange(range)
        }
        return runs
    }
}
