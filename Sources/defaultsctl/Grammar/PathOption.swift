import ArgumentParser
import KeyedArchive
import ValuePaths

/// The way to a part of a key's value.
struct PathOption: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "A part of the key's value, such as options.audio.volume or 'books[0].title'.",
            valueName: "path"),
        transform: Self.path)
    var path: ValuePath?

    private static func path(_ spelling: String) throws -> ValuePath {
        do {
            return try ValuePath(ofPart: spelling)
        } catch {
            throw ValidationError("\(error)")
        }
    }
}

extension ValuePath {
    /// A path to a part.
    ///
    /// - Throws: Where it is empty: that would be the whole value, which a script whose variable is
    ///   empty does not mean.
    init(ofPart spelling: String) throws {
        try self.init(spelling)
        guard !steps.isEmpty else { throw EmptyPath() }
    }

    private struct EmptyPath: Error, CustomStringConvertible {
        let description = "A path is not empty; for the whole value, leave it out."
    }
}
