import DefaultsFiles
import DefaultsModel
import DefaultsStorage

/// A file of a layer as it was found: what it says, or why it says nothing.
struct FoundFile {
    let file: LayerFile
    /// What it holds, or why it cannot be read, in short: by XXH64.
    let digest: UInt64
    private let contents: Result<[UInt8], LayerProblem>

    /// How many bytes the files of one layer of a domain may have together: all of them are read
    /// before they are compared with what there was.
    static let room = 64 << 20

    /// Reads a file; nil where it has gone meanwhile.
    ///
    /// - Parameter room: How many bytes it may have; lowered by those that it has.
    init?(_ file: LayerFile, room: inout Int) {
        self.file = file
        do throws(LayerProblem) {
            let bytes = try file.read(atMost: room)
            room -= bytes.count
            contents = .success(bytes)
            digest = Self.digest(of: bytes)
        } catch {
            guard error.code != .notFound else { return nil }
            contents = .failure(error)
            digest = Self.digest(of: Array("\(error)".utf8))
        }
    }

    var path: FilePath { FilePath(file.path) }

    /// What it says.
    func document() throws(LayerProblem) -> LayerDocument {
        try LayerDocument(contents.get(), of: file)
    }

    /// Never 0, which a record has in the place of a digest.
    private static func digest(of bytes: [UInt8]) -> UInt64 {
        max(1, XXH64.hash(bytes, seed: 0))
    }
}
