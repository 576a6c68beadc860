/// The version of this software, of the daemon and the tool alike.
public enum Version {
    /// By semantic versioning. The contract's own version is the 1 in its names.
    public static let current = "0.1.0"
}
