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

extension ScaryBugDatabase {
    /// Adds the bugs of a folder of the first version of the program, which had a folder for each bug:
    /// `1.bug/data.plist`, beside it `thumbImage.jpg` and `fullImage.jpg`.
    ///
    /// - Parameter isDone: Called with the folder of each bug, and its new name or why it was left out.
    func addAll(
        in folder: String, isDone: (_ bug: String, Result<String, any Error>) -> Void
    ) async throws {
        for bug in try bugs(in: folder) {
            do {
                isDone(bug, .success(try await add(from: "\(folder)/\(bug)")))
            } catch {
                isDone(bug, .failure(error))
            }
        }
    }

    private func bugs(in folder: String) throws -> [String] {
        let names = try refusing("The folder \"\(folder)\" cannot be read") {
            try FileManager.default.contentsOfDirectory(atPath: folder)
        }
        return names.filter { $0.hasSuffix(".bug") }
            .sorted { $0.compare($1, options: .numeric) == .orderedAscending }
    }

    private func add(from folder: String) async throws -> String {
        let archive = try KeyedArchive(validating: contents(of: "\(folder)/data.plist"))
        let (thumbnail, image) = ("\(folder)/thumbImage.jpg", "\(folder)/fullImage.jpg")
        let hasPictures = FileManager.default.fileExists(atPath: thumbnail)
        return try await add(
            ValueCoding.scaryBug.decode(archive),
            hasPictures ? Pictures(thumbnail: thumbnail, image: image) : nil)
    }
}
