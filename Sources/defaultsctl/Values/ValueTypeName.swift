import KeyedArchive
import PropertyList

/// The type of a value in the words of macOS's `read-type`.
struct ValueTypeName: ValueFormSink {
    /// The type is known; no more of the value is needed.
    private struct Known: Error {
        let name: String
    }

    private init() {}

    /// The word for the type of a value; `object` for what is none of macOS's types.
    static func name(of archive: KeyedArchive) throws -> String {
        var sink = DateFolding(into: ValueTypeName())
        do {
            try archive.render(into: &sink)
        } catch let known as Known {
            return known.name
        }
        preconditionFailure("A value has no beginning.")
    }

    func null() throws { throw Known(name: "object") }
    func boolean(_ value: Bool) throws { throw Known(name: "boolean") }
    func integer(_ value: Int128) throws { throw Known(name: "integer") }
    func real(_ value: Double) throws { throw Known(name: "float") }
    func string(_ value: Text) throws { throw Known(name: "string") }
    func data(_ value: ArraySlice<UInt8>) throws { throw Known(name: "data") }
    func bytes(_ value: ArraySlice<UInt8>) throws { throw Known(name: "data") }
    func date(_ secondsSince2001: Double) throws { throw Known(name: "date") }
    func reference(to uid: UInt64) throws { throw Known(name: "object") }
    func beginArray() throws { throw Known(name: "array") }
    func endArray() throws {}
    func beginDictionary() {}
    func beginDictionaryOfAnyKeys() throws -> Bool { throw Known(name: "dictionary") }

    func key(_ key: Text) throws {
        throw Known(name: key.hasPrefix("$") ? "object" : "dictionary")
    }

    func endDictionary() throws { throw Known(name: "dictionary") }
}
