import KeyedArchive

extension Part {
    /// Archives of one scalar: what is read from their bytes alone is what their graph shows.
    static let scalars = Part("scalars") { bytes in
        let archive = try validated(bytes)
        if let scalar = ScalarArchive(bytes) {
            guard let archive else {
                throw Violation(description: "A scalar was read from bytes that are no archive.")
            }
            var (shown, read) = (ShownParts(), ShownParts())
            try archive.render(into: &shown)
            try scalar.render(into: &read)
            try require(
                shown.events == read.events,
                "\(read.events) was read from an archive that shows \(shown.events).")
        }
        return archive == nil ? .refused : .accepted
    }
}
