internal import Foundation
internal import KeyedArchive
internal import PropertyList

/// The forms of Foundation's common classes in an archive.
extension ObjectCollector {
    /// The content of the node of an object of a known class; nil if no archive can hold it.
    func content(
        of object: NSObject, _ kind: FoundationClasses.Known, in node: NodeIndex
    ) -> ObjectGraph.Node? {
        switch object {
        case let string as NSMutableString:
            return known("NSMutableString", ["NS.string": .inlineString(string.text)])
        case let string as NSString:
            return .scalar(.string(string.text))
        case let number as NSNumber:
            return number.scalar.map(ObjectGraph.Node.scalar)
        case let data as NSMutableData:
            return known("NSMutableData", ["NS.data": .inlineBytes(Array(data as Data)[...])])
        case let data as NSData:
            return .scalar(.data(Array(data as Data)[...]))
        case let date as NSDate:
            return known(
                "NSDate", ["NS.time": .scalar(.real(date.timeIntervalSinceReferenceDate))])
        case is NSNull:
            return known("NSNull", [:])
        case let uuid as NSUUID:
            let bytes = withUnsafeBytes(of: (uuid as UUID).uuid) { Array($0) }
            return known("NSUUID", ["NS.uuidbytes": .inlineBytes(bytes[...])])
        case let url as NSURL:
            return known(
                "NSURL",
                [
                    "NS.base": reference(to: url.baseURL, in: node, as: "NS.base"),
                    "NS.relative": reference(to: url.relativeString, in: node, as: "NS.relative"),
                ])
        default:
            return content(ofCollection: object, in: node) ?? content(ofValue: object, in: node)
                ?? content(ofOther: object, in: node)
        }
    }

    private func content(ofCollection object: NSObject, in node: NodeIndex) -> ObjectGraph.Node? {
        switch object {
        case let array as NSArray:
            let name: Text = array is NSMutableArray ? "NSMutableArray" : "NSArray"
            return known(name, ["NS.objects": .elements(elements(array.members, of: node))])
        case let dictionary as NSDictionary:
            let isMutable = dictionary is NSMutableDictionary
            let chain = ClassChain.of(isMutable ? "NSMutableDictionary" : "NSDictionary")
            let entries = dictionary.entries
            return .dictionary(
                chain: chain, keys: elements(entries.map(\.key), of: node),
                values: elements(entries.map(\.value), of: node))
        case let set as NSCountedSet:
            let members = set.members
            return .countedSet(elements(members, of: node), counts: members.map(set.count(for:)))
        case let set as NSSet:
            let chain = ClassChain.of(set is NSMutableSet ? "NSMutableSet" : "NSSet")
            return .set(chain: chain, elements(set.members, of: node))
        case let set as NSOrderedSet:
            let isMutable = set is NSMutableOrderedSet
            let name: Text = isMutable ? "NSMutableOrderedSet" : "NSOrderedSet"
            return known(name, ["NS.objects": .elements(elements(set.array, of: node))])
        default:
            return nil
        }
    }

    private func content(ofOther object: NSObject, in node: NodeIndex) -> ObjectGraph.Node? {
        switch object {
        case let string as NSAttributedString:
            return content(of: string, in: node)
        case let error as NSError:
            let userInfo = error.userInfo.isEmpty ? nil : error.userInfo
            return known(
                "NSError",
                [
                    "NSCode": .scalar(.integer(Int128(error.code))),
                    "NSDomain": reference(to: error.domain, in: node, as: "NSDomain"),
                    "NSUserInfo": reference(to: userInfo, in: node, as: "NSUserInfo"),
                ])
        case let item as NSURLQueryItem:
            return known(
                "NSURLQueryItem",
                [
                    "NS.name": reference(to: item.name, in: node, as: "NS.name"),
                    "NS.value": reference(to: item.value, in: node, as: "NS.value"),
                ])
        default:
            return nil
        }
    }

    func known(
        _ name: Text, _ fields: KeyValuePairs<Text, ObjectGraph.Value>
    ) -> ObjectGraph.Node {
        .object(
            chain: ClassChain.of(name),
            fields: fields.map { ObjectGraph.Field(name: $0.key, value: $0.value) })
    }

    private func elements(_ values: [Any], of node: NodeIndex) -> [NodeIndex] {
        var elements: [NodeIndex] = []
        elements.reserveCapacity(values.count)
        for (number, value) in values.enumerated() {
            guard let element = self.node(of: value, in: node, as: "[\(number)]") else {
                fail(.nilElement, at: node, "[\(number)]")
                return []
            }
            elements.append(element)
        }
        return elements
    }

    func reference(
        to value: Any?, in node: NodeIndex, as step: String
    ) -> ObjectGraph.Value {
        .reference(self.node(of: value, in: node, as: step))
    }
}

extension NSString {
    /// The characters, including unpaired surrogates.
    fileprivate var text: Text {
        var codeUnits = [UInt16](repeating: 0, count: length)
        getCharacters(&codeUnits, range: NSRange(location: 0, length: codeUnits.count))
        return Text(utf16: codeUnits)
    }
}

extension NSNumber {
    /// The value; nil if archives do not have its type.
    fileprivate var scalar: Scalar? {
        // The two booleans are unique objects; their type is that of a small integer.
        if self === NSNumber(value: true) { return .boolean(true) }
        if self === NSNumber(value: false) { return .boolean(false) }
        switch UInt8(bitPattern: objCType.pointee) {
        case UInt8(ascii: "f"), UInt8(ascii: "d"): return .real(doubleValue)
        case UInt8(ascii: "Q"), UInt8(ascii: "L"): return .integer(Int128(uint64Value))
        default: return .integer(Int128(int64Value))
        }
    }
}
