import Glibc

/// Why the daemon cannot begin, with the sentence that it ends with.
public struct LifeCycleError: Error, CustomStringConvertible {
    /// The sentence.
    public let description: String

    static let nameTaken = LifeCycleError(
        description: "Another program has the name org.defaultsd.Defaults1 on this bus. "
            + "Stop it first: systemctl --user stop defaultsd")

    static func signals(errno: Int32) -> LifeCycleError {
        LifeCycleError(description: "Cannot receive signals: \(String(cString: strerror(errno))).")
    }
}
