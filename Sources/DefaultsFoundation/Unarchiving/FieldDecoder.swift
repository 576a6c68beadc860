internal import Foundation
internal import KeyedArchive
internal import PropertyList

/// The coder from which one object reads its fields.
final class FieldDecoder: InertCoder {
    private let maker: ObjectMaker
    /// The contents of the fields, by the numbers of their names.
    private let fields: [Int: ObjectIndex]
    private let uid: UInt64
    private let index: ObjectIndex
    private let allowed: AllowList
    private var unkeyedCount = 0
    /// The fields that were requested and are missing.
    private(set) var missing: [String] = []

    override var refusal: StaticString { "objects are being decoded, and cannot be archived" }
    override var allowedClasses: [AnyClass]? { allowed.classes }

    init(
        _ maker: ObjectMaker, fields: Fields, uid: UInt64, at index: ObjectIndex,
        allowed: AllowList
    ) {
        self.maker = maker
        var values: [Int: ObjectIndex] = [:]
        values.reserveCapacity(fields.count)
        for position in 0..<fields.count {
            let name = maker.names.number(at: position, of: fields, in: maker.list)
            values[name] = fields.value(at: position, in: maker.list)
        }
        self.fields = values
        self.uid = uid
        self.index = index
        self.allowed = allowed
        super.init(log: maker.log)
    }

    override func fail(_ error: ObjectCodingError) {
        maker.fail(error, at: index)
    }

    /// Makes the object that is being decoded available to the objects below it.
    func announce(_ object: NSObject) {
        maker.announce(object, as: uid)
    }

    /// The content of a field, if the object has it.
    func field(_ key: String) -> ObjectIndex? {
        // A key that begins with $, like those of archivers, has another $.
        field(named: key.utf8.first == UInt8(ascii: "$") ? "$\(key)" : key)
    }

    private func field(named name: String) -> ObjectIndex? {
        maker.names.number(of: name).flatMap { fields[$0] }
    }

    /// Reads a field; nil if there is none, or after an error.
    private func read<Result>(_ key: String, _ body: (ObjectIndex) -> Result?) -> Result? {
        read(key, field(key), body)
    }

    /// Reads the next field that was written without a key.
    private func readUnkeyed<Result>(_ body: (ObjectIndex) -> Result?) -> Result? {
        let name = "$\(unkeyedCount)"
        unkeyedCount += 1
        return read(name, field(named: name), body)
    }

    private func read<Result>(
        _ name: String, _ field: ObjectIndex?, _ body: (ObjectIndex) -> Result?
    ) -> Result? {
        guard log.first == nil else { return nil }
        return maker.at(name) {
            if let field { return body(field) }
            missing.append(name)
            if maker.options.refusesMissingFields { maker.fail(.missingField, at: index) }
            return nil
        }
    }

    // MARK: Objects

    override func containsValue(forKey key: String) -> Bool {
        field(key) != nil
    }

    override func decodeObject(forKey key: String) -> Any? {
        read(key) { maker.object(at: $0, allowing: allowed, isBelow: true) }
    }

    override func decodeObject<Object: NSObject & NSCoding>(
        of class: Object.Type, forKey key: String
    ) -> Object? {
        read(key) { maker.object(at: $0, allowing: AllowList([`class`])) as? Object }
    }

    override func decodeObject(of classes: [AnyClass]?, forKey key: String) -> Any? {
        guard let classes else { return decodeObject(forKey: key) }
        return read(key) { maker.object(at: $0, allowing: AllowList(classes)) }
    }

    /// The object in an optional field.
    ///
    /// It may be missing, whatever the options say.
    func optionalObject<Object: NSObject & NSCoding>(
        of class: Object.Type, forKey key: String
    ) -> Object? {
        containsValue(forKey: key) ? decodeObject(of: `class`, forKey: key) : nil
    }

    override func decodePropertyList(forKey key: String) -> Any? {
        read(key, maker.propertyList(at:))
    }

    // MARK: Numbers

    override func decodeBool(forKey key: String) -> Bool {
        read(key, maker.boolean(at:)) ?? false
    }

    override func decodeCInt(forKey key: String) -> Int32 { decodeInt32(forKey: key) }
    override func decodeInt32(forKey key: String) -> Int32 { read(key, maker.integer(at:)) ?? 0 }
    override func decodeInt64(forKey key: String) -> Int64 { read(key, maker.integer(at:)) ?? 0 }
    override func decodeInteger(forKey key: String) -> Int { read(key, maker.integer(at:)) ?? 0 }
    override func decodeFloat(forKey key: String) -> Float { read(key, maker.single(at:)) ?? 0 }
    override func decodeDouble(forKey key: String) -> Double { read(key, maker.real(at:)) ?? 0 }

    // MARK: Bytes

    override func withDecodedUnsafeBytes<Result>(
        forKey key: String, body: (UnsafeRawBufferPointer?) throws -> Result
    ) rethrows -> Result {
        guard let bytes = read(key, maker.bytes(at:)) else { return try body(nil) }
        return try bytes.withUnsafeBytes { try body($0) }
    }

    override func withDecodedUnsafeBufferPointer<Result>(
        forKey key: String, body: (UnsafeBufferPointer<UInt8>?) throws -> Result
    ) rethrows -> Result {
        guard let bytes = read(key, maker.bytes(at:)) else { return try body(nil) }
        return try bytes.withUnsafeBufferPointer { try body($0) }
    }

    // MARK: Without keys

    override func decodeObject() -> Any? {
        readUnkeyed { maker.object(at: $0, allowing: allowed, isBelow: true) }
    }

    override func decodeData() -> Data? {
        readUnkeyed { maker.object(at: $0, allowing: AllowList([NSData.self])) as? NSData }
            .map { $0 as Data }
    }

    override func decodePropertyList() -> Any? {
        readUnkeyed(maker.propertyList(at:))
    }

    override func decodeValue(
        ofObjCType type: UnsafePointer<Int8>, at address: UnsafeMutableRawPointer
    ) {
        // The caller guarantees that the address is that of a value of this type.
        func store<Value: BitwiseCopyable>(_ value: Value) {
            address.storeBytes(of: value, as: Value.self)
        }
        func integer<Value: FixedWidthInteger & BitwiseCopyable>(_: Value.Type) {
            store((readUnkeyed(maker.integer(at:)) ?? 0) as Value)
        }
        switch String(cString: type) {
        case "@": address.assumingMemoryBound(to: Any?.self).pointee = decodeObject()
        case "c": integer(Int8.self)
        case "C": integer(UInt8.self)
        case "s": integer(Int16.self)
        case "S": integer(UInt16.self)
        // In Foundation's coders, a long has 32 bits too.
        case "i", "l": integer(Int32.self)
        case "I", "L": integer(UInt32.self)
        case "q": integer(Int64.self)
        case "Q": integer(UInt64.self)
        case "B": store((readUnkeyed(maker.boolean(at:)) ?? false) ? 1 : 0 as UInt8)
        case "f": store(readUnkeyed(maker.single(at:)) ?? 0 as Float)
        case "d": store(readUnkeyed(maker.real(at:)) ?? 0 as Double)
        default:
            fail(.unsupportedCall(#function, "archives do not support this type of value"))
        }
    }

    override func decodeArray(
        ofObjCType type: UnsafePointer<Int8>, count: Int, at array: UnsafeMutableRawPointer
    ) {
        fail(.unsupportedCall(#function, "write an NSArray, or bytes"))
    }
}

/// Numbers for the names of fields: equal names have equal numbers.
///
/// Each name is read once, even if many objects have it.
struct FieldNames {
    private var numbers: [Text: Int] = [:]
    private var known: [ObjectIndex: Int] = [:]

    /// The number of a name; nil if no object so far has such a field.
    func number(of name: String) -> Int? {
        numbers[Text(name)]
    }

    /// The number of the name of a field.
    mutating func number(at position: Int, of fields: Fields, in list: PropertyList) -> Int {
        let key = fields.key(at: position, in: list)
        if let number = known[key] { return number }
        let name = fields.name(at: position, in: list)
        let number = numbers[name] ?? numbers.count
        numbers[name] = number
        known[key] = number
        return number
    }
}
