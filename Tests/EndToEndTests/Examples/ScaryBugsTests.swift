import Foundation
import TestSupport
import Testing

/// The program of documents with pictures.
@Suite(.serialized) struct ScaryBugsTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    private static let domain = "org.example.ScaryBugs"

    private func list() throws -> String { try desktop.example("ScaryBugs").requireOutput() }

    private func show(_ name: String) -> ProgramResult {
        desktop.example("ScaryBugs", "show", name)
    }

    /// A picture that is known again among other bytes.
    private func picture(_ name: String, size: Int) throws -> String {
        let text = "PICTURE-\(name)"
        return try desktop.directory.write(
            text + String(repeating: ".", count: size - text.utf8.count), to: name)
    }

    private static let sizes = (thumbnail: 100 << 10, image: 3 << 20)

    private func add(_ title: String, rating: Int = 3) throws -> String {
        try desktop.example(
            "ScaryBugs", "add", title, "\(rating)",
            picture("thumbnail", size: Self.sizes.thumbnail),
            picture("image", size: Self.sizes.image)
        ).requireOutput()
    }

    @Test func `Bugs have numbers, and are there with their pictures at the next start`() throws {
        #expect(try list() == "")
        #expect(try add("Potato Bug", rating: 4) == "Bug 1\n")
        #expect(try add("House Centipede") == "Bug 2\n")
        #expect(
            try list() == """
                Bug 1: Potato Bug, 4 of 5, habitat unknown
                Bug 2: House Centipede, 3 of 5, habitat unknown

                """)
        #expect(
            try show("Bug 1").requireOutput() == """
                Bug 1: Potato Bug, 4 of 5, habitat unknown
                thumbnail of \(Self.sizes.thumbnail) bytes
                image of \(Self.sizes.image) bytes

                """)
    }

    @Test func `Bugs are listed by their numbers, and not by their letters`() throws {
        for number in [10, 9, 1] {
            desktop.call(
                "SetValue", Self.domain, "Bug \(number)",
                "<{'$class': <'Bug'>, 'title': <'Bug'>, 'rating': <1>}>")
        }
        let names = try list().split(separator: "\n").map { $0.prefix { $0 != ":" } }
        #expect(names == ["Bug 1", "Bug 9", "Bug 10"])
    }

    @Test func `Programs that add at the same time get different numbers`() throws {
        let picture = try picture("image", size: 1 << 20)
        let count = 5
        let programs = try (0..<count).map { _ in
            try desktop.start(
                Desktop.builtProgram("ScaryBugs"), "add", "Bug", "1", picture, picture)
        }
        let names = programs.compactMap { $0.lines?.next() }
        #expect(names.sorted() == (1...count).map { "Bug \($0)" })
        for program in programs { #expect(program.waitUntilExit() == 0) }
    }

    @Test func `The list is shown without loading a picture`() throws {
        _ = try add("Potato Bug")
        _ = try add("House Centipede")
        var lines = ""
        let listing = try desktop.traffic { lines = try list() }
        #expect(lines.contains("Bug 2"))
        #expect(listing.count(of: "House Centipede") == 1)
        #expect(listing.count(of: "PICTURE") == 0)
        #expect(listing.size < Self.sizes.thumbnail)

        let showing = try desktop.traffic { try show("Bug 2").requireOutput() }
        #expect(showing.count(of: "PICTURE-image") == 1)
        #expect(showing.size > Self.sizes.image)
        #expect(showing.size < 2 * Self.sizes.image)
    }

    @Test func `A bug of the program's first version has the default of the newer field`() throws {
        desktop.call(
            "SetValue", Self.domain, "Bug 1",
            "<{'$class': <'Bug'>, 'title': <'Wolf Spider'>, 'rating': <5>}>")
        #expect(try list() == "Bug 1: Wolf Spider, 5 of 5, habitat unknown\n")
        try desktop.example("ScaryBugs", "rate", "Bug 1", "2").requireOutput()
        #expect(
            try desktop.tool("read", Self.domain, "Bug 1", "--json").requireOutput()
                == #"{"$class":"Bug","habitat":"unknown","rating":2,"title":"Wolf Spider"}"# + "\n")
    }

    @Test func `A bug is deleted with its pictures, and its number is not used again`() throws {
        _ = try add("Potato Bug")
        _ = try add("House Centipede")
        try desktop.example("ScaryBugs", "delete", "Bug 2").requireOutput()
        #expect(try list() == "Bug 1: Potato Bug, 3 of 5, habitat unknown\n")
        #expect(
            try desktop.tool("keys", Self.domain).requireOutput()
                == "Bug 1\nBug 1 Image\nBug 1 Thumbnail\nLastNumber\n")
        #expect(show("Bug 2").status == 1)
        #expect(desktop.example("ScaryBugs", "delete", "Bug 2").status == 1)
        #expect(try add("Wolf Spider") == "Bug 3\n")
    }

    @Test func `A slider that moves sends fewer changes than it has steps, and no picture`() throws
    {
        _ = try add("Potato Bug")
        let steps = (0..<500).map { "\($0 % 5)" } + ["5"]
        let traffic = try desktop.traffic {
            try desktop.run(
                [Desktop.builtProgram("ScaryBugs"), "rate", "Bug 1"] + steps
            ).requireOutput()
        }
        let calls = traffic.count(of: "Apply")
        #expect(calls >= 1)
        #expect(calls < steps.count)
        #expect(traffic.count(of: "PICTURE") == 0)
        #expect(try list() == "Bug 1: Potato Bug, 5 of 5, habitat unknown\n")
    }
}
