import DefaultsFiles
import DefaultsModel
import DefaultsStorage

/// A file of a layer as it was found: what it says, or why it says nothing.
struct FoundFile {
    let file: LayerFile
    /// What it holds, in short: by XXH64.
    let digest: UInt64
    private let contents: Result<[UInt8], LayerProblem>

    /// Reads a file; nil where it has gone meanwhile.
    init?(_ file: LayerFile) {
        self.file = file
        do throws(LayerProblem) {
            let bytes = try file.read()
            contents = .success(bytes)
            digest = max(Self.leastDigest, XXH64.hash(bytes, seed: 0))
        } catch {
            guard error.code != .notFound else { return nil }
            contents = .failure(error)
            digest = Self.unreadable
        }
    }

    /// In the place of a digest where there is none; a record has neither.
    private static let unreadable: UInt64 = 1
    private static let leastDigest: UInt64 = 2

    /// What it says.
    func document() throws(LayerProblem) -> LayerDocument {
        try LayerDocument(contents.get(), of: file)
    }
}
