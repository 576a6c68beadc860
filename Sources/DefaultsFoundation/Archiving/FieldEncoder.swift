internal import Foundation
internal import KeyedArchive
internal import PropertyList

/// The coder to which one object writes its fields.
///
/// Objects in fields are noted, and encoded after this object. So deep nesting causes no recursion.
final class FieldEncoder: InertCoder {
    private let collector: ObjectCollector
    private let node: ObjectGraph.NodeIndex
    private(set) var fields: [ObjectGraph.Field] = []
    private var names: Set<Text> = []
    private var unkeyedCount = 0

    override var refusal: StaticString { "objects are being archived, and cannot be decoded" }

    init(_ collector: ObjectCollector, node: ObjectGraph.NodeIndex) {
        self.collector = collector
        self.node = node
        super.init(log: collector.log)
    }

    override func fail(_ error: ObjectCodingError) {
        collector.fail(error, at: node)
    }

    private func add(_ value: ObjectGraph.Value, forKey key: String) {
        // A key that begins with $, like those of archivers, gets another $.
        add(value, named: key.utf8.first == UInt8(ascii: "$") ? "$\(key)" : key)
    }

    private func add(_ value: ObjectGraph.Value, named name: String) {
        let name = Text(name)
        guard names.insert(name).inserted else {
            return collector.fail(.duplicateField, at: node, name.description)
        }
        fields.append(ObjectGraph.Field(name: name, value: value))
    }

    private func addUnkeyed(_ value: (String) -> ObjectGraph.Value) {
        let name = "$\(unkeyedCount)"
        unkeyedCount += 1
        add(value(name), named: name)
    }

    private func reference(_ object: Any?, _ name: String) -> ObjectGraph.Value {
        .reference(collector.node(of: object, in: node, as: name))
    }

    private func conditional(_ object: Any?, _ name: String) -> ObjectGraph.Value {
        .reference(collector.node(of: object, in: node, as: name, isConditional: true))
    }

    // MARK: With keys

    override func encode(_ object: Any?, forKey key: String) {
        add(reference(object, key), forKey: key)
    }

    override func encodeConditionalObject(_ object: Any?, forKey key: String) {
        add(conditional(object, key), forKey: key)
    }

    override func encode(_ value: Bool, forKey key: String) {
        add(.scalar(.boolean(value)), forKey: key)
    }

    override func encode(_ value: Int, forKey key: String) {
        add(.scalar(.integer(Int128(value))), forKey: key)
    }

    override func encode(_ value: Int32, forKey key: String) {
        add(.scalar(.integer(Int128(value))), forKey: key)
    }

    override func encode(_ value: Int64, forKey key: String) {
        add(.scalar(.integer(Int128(value))), forKey: key)
    }

    override func encode(_ value: Float, forKey key: String) {
        add(.scalar(.real(Double(value))), forKey: key)
    }

    override func encode(_ value: Double, forKey key: String) {
        add(.scalar(.real(value)), forKey: key)
    }

    override func encodeBytes(
        _ bytes: UnsafePointer<UInt8>?, length: Int, forKey key: String
    ) {
        // The bytes belong to the caller, and are copied before the call returns.
        add(
            .inlineBytes(Array(UnsafeBufferPointer(start: bytes, count: max(length, 0)))[...]),
            forKey: key)
    }

    // MARK: Without keys

    override func encode(_ object: Any?) {
        addUnkeyed { reference(object, $0) }
    }

    override func encodeConditionalObject(_ object: Any?) {
        addUnkeyed { conditional(object, $0) }
    }

    override func encode(_ data: Data) { encode(data as Any?) }
    override func encodeRootObject(_ object: Any) { encode(object as Any?) }
    override func encodeBycopyObject(_ object: Any?) { encode(object) }
    override func encodeByrefObject(_ object: Any?) { encode(object) }
    override func encodePropertyList(_ propertyList: Any) { encode(propertyList as Any?) }

    override func encodeBytes(_ bytes: UnsafeRawPointer?, length: Int) {
        encode(Data(UnsafeRawBufferPointer(start: bytes, count: max(length, 0))) as Any?)
    }

    override func encodeValue(
        ofObjCType type: UnsafePointer<Int8>, at address: UnsafeRawPointer
    ) {
        // The caller guarantees that the value at the address has this type.
        func integer<Value: FixedWidthInteger>(_: Value.Type) {
            addUnkeyed { _ in .scalar(.integer(Int128(address.loadUnaligned(as: Value.self)))) }
        }
        switch String(cString: type) {
        case "@": encode(address.assumingMemoryBound(to: Any?.self).pointee)
        case "c": integer(Int8.self)
        case "C": integer(UInt8.self)
        case "s": integer(Int16.self)
        case "S": integer(UInt16.self)
        // In Foundation's coders, a long has 32 bits too.
        case "i", "l": integer(Int32.self)
        case "I", "L": integer(UInt32.self)
        case "q": integer(Int64.self)
        case "Q": integer(UInt64.self)
        case "B":
            let value = address.loadUnaligned(as: UInt8.self) != 0
            addUnkeyed { _ in .scalar(.boolean(value)) }
        case "f":
            let value = address.loadUnaligned(as: Float.self)
            addUnkeyed { _ in .scalar(.real(Double(value))) }
        case "d":
            let value = address.loadUnaligned(as: Double.self)
            addUnkeyed { _ in .scalar(.real(value)) }
        default:
            fail(.unsupportedCall(#function, "archives do not support this type of value"))
        }
    }

    override func encodeArray(
        ofObjCType type: UnsafePointer<Int8>, count: Int, at array: UnsafeRawPointer
    ) {
        fail(.unsupportedCall(#function, "write an NSArray, or bytes"))
    }
}
