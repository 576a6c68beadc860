import DefaultsFiles
import DefaultsModel
import Foundation
import Testing

struct FileReadingTests {
    private func problem(_ file: LayerFile) throws -> LayerProblem {
        try #require(throws: LayerProblem.self) { try file.read() }
    }

    @Test(arguments: [0, 1, 4096, 100_000, LayerFile.maximumSize])
    func `A file up to the largest size is read as a whole`(size: Int) throws {
        let folder = try Folder()
        let bytes = [UInt8](repeating: 0x20, count: size)
        try Data(bytes).write(to: URL(filePath: "\(folder.path)/a"))
        try folder.link("b", to: "a")
        #expect(try folder.file("a").read() == bytes)
        #expect(try folder.file("b").read() == bytes)
    }

    @Test func `A file without a known size is read as a whole`() throws {
        let domain = try Domain(name: "a", layer: .system)
        let file = LayerFile(path: "/proc/self/status", domain: domain)
        #expect(try String(decoding: file.read(), as: UTF8.self).hasSuffix("\n"))
    }

    @Test func `A file that is too large is not read`() throws {
        let folder = try Folder()
        try folder.write(to: "a")
        truncate("\(folder.path)/a", off_t(LayerFile.maximumSize + 1))
        let problem = try problem(folder.file("a"))
        #expect(problem.code == .tooLarge && problem.reason.contains("16 MiB"))
    }

    @Test func `A file that is not regular is refused at once`() throws {
        let folder = try Folder()
        try folder.make(directory: "a")
        mkfifo("\(folder.path)/b", 0o600)
        try folder.link("c", to: "/dev/zero")
        for (name, kind) in [("a", "a directory"), ("b", "a named pipe"), ("c", "a device")] {
            let problem = try problem(folder.file(name))
            #expect(problem.code == .unreadable && problem.reason.contains(kind))
        }
    }

    @Test func `A missing file and an unreadable file give different errors`() throws {
        let folder = try Folder()
        try folder.link("nowhere", to: "gone")
        try folder.link("loop", to: "loop")
        #expect(try problem(folder.file("gone")).code == .notFound)
        #expect(try problem(folder.file("nowhere")).code == .unreadable)
        #expect(try problem(folder.file("loop")).code == .unreadable)
        #expect(try problem(folder.file("a\u{0}b")).code == .notFound)
    }
}
