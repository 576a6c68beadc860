/// A type whose `init()` gives the values of fields that an archive does not have.
///
/// An archive that an earlier version of a program wrote lacks the fields that came later. The decoder
/// takes these from a new value of the type, wherever the object is: at the root, in a field, in an
/// array or a dictionary.
///
/// ```swift
/// struct Book: Codable, DefaultInitializable {
///     var title = ""
///     var isOwned = true  // since version 2
/// }
/// ```
///
/// A field of an optional type that is missing is nil, as `decodeIfPresent` has it.
public protocol DefaultInitializable: Codable {
    /// Makes a value whose fields are the defaults.
    ///
    /// It is called for each object that lacks a field, and for no other.
    init()
}
