/// A type whose `init()` provides the values of fields that an archive lacks.
///
/// An archive that an earlier version of a program wrote lacks fields that were added later. The
/// decoder takes them from a new value of the type, wherever the object is: at the root, in a
/// field, in an array or a dictionary.
///
/// ```swift
/// struct Book: Codable, DefaultInitializable {
///     var title = ""
///     var isOwned = true  // since version 2
/// }
/// ```
///
/// A missing field of an optional type is nil, as with `decodeIfPresent`.
public protocol DefaultInitializable: Codable {
    /// Makes a value whose fields are the defaults.
    ///
    /// It is called only for an object that lacks a field.
    init()
}

/// A type whose objects record the version of the type that wrote them.
///
/// The encoder writes the version in a field `archiveVersion`. An object without the field has
/// version 0. ``KeyedArchiveDecoder/migrate(from:as:to:_:)`` sets how objects of older versions are
/// converted.
///
/// ```swift
/// struct Account: Codable, ArchiveVersioned {
///     static var archiveVersion: Int { 2 }
///     var name: String
/// }
/// ```
///
/// A type that only gets more fields needs no versions: a missing field has a default, from
/// ``DefaultInitializable`` or from `missingFieldsFrom:` of the decoder. Versions are for fields
/// whose name, type or meaning changes.
///
/// Only objects with fields have a version. Nothing is written for a type that encodes itself as a
/// single value or as an array. An object of a subclass has the version of the subclass. If such an
/// object is decoded as its superclass, the version is ignored.
public protocol ArchiveVersioned {
    /// The current version, which new objects get.
    static var archiveVersion: Int { get }
}

/// The name of the field with the version.
let archiveVersionField = "archiveVersion"
