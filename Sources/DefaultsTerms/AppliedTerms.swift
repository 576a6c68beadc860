/// The words of the domain that keeps what documents own.
package enum AppliedTerms {
    /// The domain: a value for each key of each owner.
    ///
    /// It is about what this machine had before. So it stays here, and is not a part of what a user has set.
    package static let domain = "org.defaultsd.Applied"
}
