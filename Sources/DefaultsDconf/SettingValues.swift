internal import DBus
package import DconfFiles
package import DefaultsProtocol
package import KeyedArchive

// Invariants
//
// 1. Every value that dconf has comes back with the same bytes, but for the order of the entries of a
//    dictionary.
// 2. A value is stored with its type, unless that follows from the rule for values that people set. So the
//    type is still known when the schema is gone, or was never known here.

/// The values of settings in archives.
extension SchemaIndex {
    /// The archive of a value of dconf.
    ///
    /// - Throws: ``ContractError`` if it is too large.
    package func archive(of value: ExactValue, at path: SettingsPath) throws -> KeyedArchive {
        let form = value.lastingForm
        // A schema may say another type than the value has.
        let isFound = [nil, type(of: path)].allSatisfy {
            value.isSame(as: Self.value(of: form, as: $0))
        }
        return try VariantForm.archive(of: isFound ? form : value.markedForm)
    }

    /// The value that dconf has for an archive; nil if it is no value of GVariant.
    ///
    /// - Throws: ``ContractError`` if D-Bus cannot carry what the archive contains.
    package func value(of archive: KeyedArchive, at path: SettingsPath) throws -> ExactValue? {
        Self.value(of: try VariantForm.value(of: archive), as: type(of: path))
    }

    /// The value with the type of its marker, or that of its schema.
    ///
    /// Without both, it gets the type that most settings have.
    private static func value(of form: Value, as type: ExactType?) -> ExactValue? {
        if ExactValue.isMarker(form) { return ExactValue(form, plainInteger: .int64) }
        if let type, let value = ExactValue(form, as: type) { return value }
        if case .array = form, let strings = ExactValue(form, as: .array(.string)) {
            return strings
        }
        return ExactValue(form, plainInteger: .int32)
    }
}

extension ExactValue {
    /// Whether the bytes are the same: NaN is not equal to itself, and zero has two signs.
    fileprivate func isSame(as other: ExactValue?) -> Bool {
        guard let other, type == other.type, let bytes = try? gvariant() else { return false }
        return (try? other.gvariant()) == bytes
    }
}
