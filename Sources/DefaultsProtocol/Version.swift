/// The version of the daemon and the tool.
package enum Version {
    /// The version of this source, by semantic versioning.
    ///
    /// The version of the contract is the 1 in its names.
    package static let current = "0.1.0"
}
