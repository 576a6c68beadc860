internal import Foundation

/// A coder that notes an error on every call.
///
/// The functions of NSCoder itself trap. This class overrides all that can be overridden, so a
/// subclass overrides only what it supports.
class InertCoder: NSCoder {
    /// The reason in the errors of calls that are not overridden.
    var refusal: StaticString { "it has no meaning here" }

    /// Keeps the first error; the coders of one archive share it.
    final let log: FailureLog

    init(log: FailureLog) {
        self.log = log
    }

    /// Notes an error if it is the first one.
    func fail(_ error: ObjectCodingError) {
        log.note(error)
    }

    private func refuse(_ call: String = #function) {
        fail(.unsupportedCall(call, refusal))
    }

    override final var error: (any Error)? { log.first }
    override final var decodingFailurePolicy: NSCoder.DecodingFailurePolicy { .setErrorAndReturn }
    override final var allowsKeyedCoding: Bool { true }
    override final var requiresSecureCoding: Bool { true }
    /// The value of Foundation's keyed coders.
    override final var systemVersion: UInt32 { 2000 }
    override var allowedClasses: [AnyClass]? { nil }

    /// Keyed archives have no versions of classes.
    override final func version(forClassName className: String) -> Int { NSNotFound }

    override final func failWithError(_ error: any Error) {
        fail(error as? ObjectCodingError ?? .failed(error))
    }

    // MARK: Encoding with keys

    override func encode(_ object: Any?, forKey key: String) { refuse() }
    override func encodeConditionalObject(_ object: Any?, forKey key: String) { refuse() }
    override func encode(_ value: Bool, forKey key: String) { refuse() }
    override func encode(_ value: Int, forKey key: String) { refuse() }
    override func encode(_ value: Int32, forKey key: String) { refuse() }
    override func encode(_ value: Int64, forKey key: String) { refuse() }
    override func encode(_ value: Float, forKey key: String) { refuse() }
    override func encode(_ value: Double, forKey key: String) { refuse() }

    override func encodeBytes(
        _ bytes: UnsafePointer<UInt8>?, length: Int, forKey key: String
    ) { refuse() }

    // MARK: Encoding without keys

    override func encode(_ object: Any?) { refuse() }
    override func encode(_ data: Data) { refuse() }
    override func encodeRootObject(_ object: Any) { refuse() }
    override func encodeBycopyObject(_ object: Any?) { refuse() }
    override func encodeByrefObject(_ object: Any?) { refuse() }
    override func encodeConditionalObject(_ object: Any?) { refuse() }
    override func encodePropertyList(_ propertyList: Any) { refuse() }
    override func encodeBytes(_ bytes: UnsafeRawPointer?, length: Int) { refuse() }

    override func encodeValue(
        ofObjCType type: UnsafePointer<Int8>, at address: UnsafeRawPointer
    ) { refuse() }

    override func encodeArray(
        ofObjCType type: UnsafePointer<Int8>, count: Int, at array: UnsafeRawPointer
    ) { refuse() }

    // MARK: Decoding with keys

    override func containsValue(forKey key: String) -> Bool { refused(false) }
    override func decodeObject(forKey key: String) -> Any? { refused(nil) }

    override func decodeObject<Object: NSObject & NSCoding>(
        of class: Object.Type, forKey key: String
    ) -> Object? { refused(nil) }

    override func decodeObject(of classes: [AnyClass]?, forKey key: String) -> Any? { refused(nil) }
    override func decodePropertyList(forKey key: String) -> Any? { refused(nil) }
    override func decodeBool(forKey key: String) -> Bool { refused(false) }
    override func decodeCInt(forKey key: String) -> Int32 { refused(0) }
    override func decodeInt32(forKey key: String) -> Int32 { refused(0) }
    override func decodeInt64(forKey key: String) -> Int64 { refused(0) }
    override func decodeInteger(forKey key: String) -> Int { refused(0) }
    override func decodeFloat(forKey key: String) -> Float { refused(0) }
    override func decodeDouble(forKey key: String) -> Double { refused(0) }

    override func withDecodedUnsafeBytes<Result>(
        forKey key: String, body: (UnsafeRawBufferPointer?) throws -> Result
    ) rethrows -> Result { try body(refused(nil)) }

    override func withDecodedUnsafeBufferPointer<Result>(
        forKey key: String, body: (UnsafeBufferPointer<UInt8>?) throws -> Result
    ) rethrows -> Result { try body(refused(nil)) }

    // MARK: Decoding without keys

    override func decodeObject() -> Any? { refused(nil) }
    override func decodeData() -> Data? { refused(nil) }
    override func decodePropertyList() -> Any? { refused(nil) }

    override func decodeValue(
        ofObjCType type: UnsafePointer<Int8>, at address: UnsafeMutableRawPointer
    ) { refuse() }

    override func decodeArray(
        ofObjCType type: UnsafePointer<Int8>, count: Int, at array: UnsafeMutableRawPointer
    ) { refuse() }

    private func refused<Result>(_ result: Result, _ call: String = #function) -> Result {
        refuse(call)
        return result
    }
}
