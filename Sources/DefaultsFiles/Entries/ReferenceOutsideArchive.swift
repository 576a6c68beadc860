/// A reference of a keyed archive stands outside of one.
public struct ReferenceOutsideArchive: Error, CustomStringConvertible {
    /// The sentence.
    public var description: String {
        "The property list holds a reference (CF$UID) outside of a keyed archive, which no value can be."
    }
}
