/// The version of the daemon and the tool.
package enum Version {
    /// The version of this source, by semantic versioning.
    ///
    /// The version of the contract is the 1 in its names.
    package static let current = "0.1.0"

    /// The name by which the loader finds the library for C.
    ///
    /// Its number is the version of the binary interface.
    package static let library = "libdefaults.so.1"
}
