import Glibc

/// What a descriptor is ready for.
public struct Events: OptionSet, Sendable {
    /// The bits of poll(2).
    public let rawValue: Int16

    /// Makes events of the bits of poll(2).
    public init(rawValue: Int16) {
        self.rawValue = rawValue
    }

    /// Reading would not block.
    public static let readable = Events(rawValue: Int16(POLLIN))
    /// Writing would not block.
    public static let writable = Events(rawValue: Int16(POLLOUT))
    /// The descriptor has failed; reported unasked.
    public static let error = Events(rawValue: Int16(POLLERR) | Int16(POLLNVAL))
    /// The application has closed the descriptor; reported unasked.
    ///
    /// Nothing may be done by its number, which may be another file's.
    public static let lost = Events(rawValue: Int16(POLLNVAL))
    /// The other end has hung up; reported unasked.
    public static let hangUp = Events(rawValue: Int16(POLLHUP))
}
