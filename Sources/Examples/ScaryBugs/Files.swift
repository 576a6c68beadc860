import DefaultsClient
import DefaultsFoundation
import ExampleSupport
import Foundation
import KeyedArchive

extension Pictures {
    /// Loads both pictures from files.
    init(thumbnail: String, image: String) throws {
        thumbImage = try contents(of: thumbnail)
        fullImage = try contents(of: image)
    }
}

/// A bug in files, as the first version of the program kept it: a folder such as `1.scarybug`.
struct BugFolder {
    static let suffix = ".scarybug"

    let path: String

    private var data: String { path + "/data.plist" }
    private var thumbImage: String { path + "/thumbImage.jpg" }
    private var fullImage: String { path + "/fullImage.jpg" }

    /// The names of the bugs in a folder, in the order of their numbers.
    static func names(in folder: String) throws -> [String] {
        let names = try refusing("The folder \"\(folder)\" cannot be read") {
            try FileManager.default.contentsOfDirectory(atPath: folder)
        }
        return names.filter { $0.lowercased().hasSuffix(suffix) }
            .sorted { $0.compare($1, options: .numeric) == .orderedAscending }
    }

    func load() throws -> (ScaryBugData, Pictures?) {
        let archive = try archive(in: data)
        let hasPictures = [thumbImage, fullImage].contains(where: FileManager.default.fileExists)
        return (
            try ValueCoding.scaryBug.decode(archive),
            hasPictures ? try Pictures(thumbnail: thumbImage, image: fullImage) : nil
        )
    }

    /// Makes the folder, which must not be there yet.
    func save(_ bug: ScaryBugData, _ pictures: Pictures?) throws {
        // In JSON the value can be put under the key that the first version looked for.
        let json = try KeyedArchive(archiving: bug).json()
        let text = String(decoding: json, as: UTF8.self)
        let archive = try KeyedArchive(json: #"{"$top":{"Data":\#(text)}}"#)
        try refusing("The folder \"\(path)\" cannot be made") {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: false)
        }
        try write(archive.data, to: data)
        guard let pictures else { return }
        try write(pictures.thumbImage, to: thumbImage)
        try write(pictures.fullImage, to: fullImage)
    }
}
