/// The version of this software.
public enum Version {
    /// By semantic versioning; the contract's own version is the 1 in its names.
    public static let current = "0.1.0"
}
