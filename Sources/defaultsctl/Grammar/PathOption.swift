import ArgumentParser
import KeyedArchive

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
            return try ValuePath(spelling)
        } catch {
            throw ValidationError("\(error)")
        }
    }
}
