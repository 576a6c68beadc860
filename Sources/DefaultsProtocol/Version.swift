/// The version of this software, of the daemon and the tool alike.
package enum Version {
    /// The version of this source, by semantic versioning.
    ///
    /// That of the contract is the 1 in its names.
    package static let current = "0.1.0"
}
