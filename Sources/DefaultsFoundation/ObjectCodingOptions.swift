/// How objects are archived and made from archives.
public struct ObjectCodingOptions: Sendable {
    /// How classes are called in archives.
    public var classNames = ClassNames()
    /// The most levels of objects in each other that are made.
    ///
    /// Each takes up some kilobytes of stack, since an object's `init(coder:)` makes those below
    /// it. Archiving does not recurse and has no such limit.
    public var depth = 512
    /// The most fields and elements that are made, those of shared objects counted once.
    public var count = 4 << 20
    /// The most bytes of strings and data that are made.
    public var size = 64 << 20
    /// Whether a field that an object asks for and that is not there is an error.
    ///
    /// Else it is nil, 0 or false, as from every other unarchiver, so that a field can be added to
    /// a class and old archives stay readable.
    public var refusesMissingFields = false

    /// The options that are right for most.
    public init() {}
}
