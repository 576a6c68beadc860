import Foundation
import TestSupport
import TestTiers
import Testing

/// The program of documents with pictures.
@Suite(.startsPrograms, .serialized) struct ScaryBugsTests {
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

    private func add(_ title: String, rating: String = "3") throws -> String {
        try desktop.example(
            "ScaryBugs", "add", title, rating,
            picture("thumbnail", size: Self.sizes.thumbnail),
            picture("image", size: Self.sizes.image)
        ).requireOutput()
    }

    @Test func `Bugs have numbers, and are there with their pictures at the next start`() throws {
        #expect(try list() == "")
        #expect(try add("Potato Bug", rating: "4") == "Bug 1\n")
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

    @Test func `Bugs are listed by their numbers, not alphabetically`() throws {
        for number in [10, 9, 1] {
            desktop.call(
                "SetValue", Self.domain, "Bug \(number)",
                "<{'$class': <'ScaryBugData'>, 'Title': <'Bug'>, 'Rating': <1.0>}>")
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
        for program in programs {
            #expect(throws: Never.self) { try program.requireSuccess() }
        }
    }

    @Test func `The list is shown without loading a picture`() throws {
        _ = try add("Potato Bug")
        _ = try add("House Centipede")
        // What goes over the bus is counted, so the programs are to use it.
        try FileManager.default.removeItem(
            atPath: desktop.directory.path + "/runtime/defaultsd/direct")
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
            "<{'$class': <'ScaryBugData'>, 'Title': <'Wolf Spider'>, 'Rating': <5.0>}>")
        #expect(try list() == "Bug 1: Wolf Spider, 5 of 5, habitat unknown\n")
        try desktop.example("ScaryBugs", "rate", "Bug 1", "2").requireOutput()
        #expect(
            try desktop.tool("read", Self.domain, "Bug 1", "--json").requireOutput()
                == #"{"$class":"ScaryBugData","Habitat":"unknown","Rating":2.0,"#
                + #""Title":"Wolf Spider","Version":2}"# + "\n")
    }

    @Test func `A bug is deleted with its pictures, and its number is not used again`() throws {
        _ = try add("Potato Bug")
        _ = try add("House Centipede")
        try desktop.example("ScaryBugs", "delete", "Bug 2").requireOutput()
        #expect(try list() == "Bug 1: Potato Bug, 3 of 5, habitat unknown\n")
        #expect(
            try desktop.tool("keys", Self.domain).requireOutput()
                == "Bug 1\nBug 1 fullImage\nBug 1 thumbImage\nLastNumber\n")
        #expect(show("Bug 2").status == 1)
        #expect(desktop.example("ScaryBugs", "delete", "Bug 2").status == 1)
        #expect(try add("Wolf Spider") == "Bug 3\n")
    }

    @Test(arguments: ["0", "0.5", "2.5", "4.5", "5"])
    func `A rating is in halves`(_ rating: String) throws {
        _ = try desktop.example("ScaryBugs", "add", "Potato Bug", rating).requireOutput()
        #expect(try list() == "Bug 1: Potato Bug, \(rating) of 5, habitat unknown\n")
        try desktop.example("ScaryBugs", "rate", "Bug 1", "1", rating).requireOutput()
        #expect(try list() == "Bug 1: Potato Bug, \(rating) of 5, habitat unknown\n")
    }

    @Test(arguments: ["5.5", "-0.5", "3.3", "nan", "inf", "many", ""])
    func `An invalid rating is refused before anything is stored`(_ rating: String) throws {
        let added = desktop.example("ScaryBugs", "add", "Potato Bug", rating)
        #expect(added.status == 1)
        #expect(added.error.hasPrefix("ScaryBugs: \"\(rating)\" is not a rating."))
        #expect(try list() == "")
        _ = try desktop.example("ScaryBugs", "add", "Potato Bug", "3").requireOutput()
        #expect(desktop.example("ScaryBugs", "rate", "Bug 1", "1", rating).status == 1)
        #expect(try list() == "Bug 1: Potato Bug, 3 of 5, habitat unknown\n")
    }

    @Test func `A bug without pictures is listed and shown, and gets pictures later`() throws {
        let name = try desktop.example("ScaryBugs", "add", "Potato Bug", "3").requireOutput()
        #expect(name == "Bug 1\n")
        let line = "Bug 1: Potato Bug, 3 of 5, habitat unknown\n"
        #expect(try list() == line)
        #expect(try show("Bug 1").requireOutput() == line + "no thumbnail\nno image\n")
        try desktop.example(
            "ScaryBugs", "pictures", "Bug 1", picture("thumbnail", size: 100),
            picture("image", size: 200)
        ).requireOutput()
        #expect(
            try show("Bug 1").requireOutput()
                == line + "thumbnail of 100 bytes\nimage of 200 bytes\n")
        try desktop.example("ScaryBugs", "without-pictures", "Bug 1").requireOutput()
        #expect(try show("Bug 1").requireOutput() == line + "no thumbnail\nno image\n")
    }

    @Test func `A missing picture is an error, and no bug is added`() throws {
        let missing = desktop.directory.path + "/missing.jpg"
        let result = desktop.example("ScaryBugs", "add", "Potato Bug", "3", missing, missing)
        #expect(result.status == 1)
        #expect(
            result.error
                == "ScaryBugs: The file \"\(missing)\" cannot be read: No such file or directory.\n"
        )
        #expect(try list() == "")
    }

    @Test func `The title is changed, and everything else stays`() throws {
        _ = try add("Potato Bug", rating: "2.5")
        try desktop.example("ScaryBugs", "title", "Bug 1", "House Centipede").requireOutput()
        #expect(
            try show("Bug 1").requireOutput() == """
                Bug 1: House Centipede, 2.5 of 5, habitat unknown
                thumbnail of \(Self.sizes.thumbnail) bytes
                image of \(Self.sizes.image) bytes

                """)
        #expect(desktop.example("ScaryBugs", "title", "Bug 1", " ").status == 1)
        #expect(desktop.example("ScaryBugs", "title", "Bug 2", "Other").status == 1)
    }

    /// Values that are no bugs that this version can read, and what is said of each.
    private static let broken = [
        #"{"$class":"ScaryBugData","Title":"Old","Rating":9.0}"#: "Its rating is not from 0 to 5.",
        #"{"$class":"ScaryBugData","Rating":3.0}"#: "It has no title.",
        #"{"$class":"ScaryBugData","Title":"New","Rating":3.0,"Version":3}"#:
            "It was written by version 3 of the program, and this is version 2.",
        #"{"$class":"Wasp"}"#: "An object has the class 'Wasp', which this program does not have.",
        "7": "An object has the class 'NSNumber', which is not allowed here.",
    ]

    @Test(arguments: broken.keys.sorted())
    func `A broken bug is shown, is not overwritten, and can be deleted`(
        _ json: String
    ) throws {
        _ = try desktop.example("ScaryBugs", "add", "Potato Bug", "3").requireOutput()
        try desktop.tool("write", Self.domain, "Bug 2", "--json", json).requireOutput()
        let stored = try desktop.tool("read", Self.domain, "Bug 2", "--json").requireOutput()
        let good = "Bug 1: Potato Bug, 3 of 5, habitat unknown\n"
        let result = desktop.example("ScaryBugs")
        #expect(result.status == 1)
        #expect(result.output == good + "Bug 2: cannot be read\n")
        let reason = try #require(Self.broken[json])
        #expect(result.error.hasPrefix("ScaryBugs: Bug 2 cannot be read. \(reason)"))
        for change in [["rate", "Bug 2", "1", "2"], ["title", "Bug 2", "Mine"]] {
            #expect(desktop.run([Desktop.builtProgram("ScaryBugs")] + change).status == 1)
        }
        #expect(try desktop.tool("read", Self.domain, "Bug 2", "--json").requireOutput() == stored)
        #expect(try add("House Centipede") == "Bug 3\n")
        try desktop.example("ScaryBugs", "delete", "Bug 2").requireOutput()
        #expect(try list() == good + "Bug 3: House Centipede, 3 of 5, habitat unknown\n")
    }

    @Test func `A bug that another program has stored is not overwritten by the next`() throws {
        desktop.call(
            "SetValue", Self.domain, "Bug 1",
            "<{'$class': <'ScaryBugData'>, 'Title': <'Wolf Spider'>, 'Rating': <5.0>}>")
        #expect(try add("Potato Bug") == "Bug 2\n")
        try desktop.tool("write", Self.domain, "LastNumber", "-int", "\(Int.max)").requireOutput()
        let result = desktop.example("ScaryBugs", "add", "Potato Bug", "3")
        #expect(result.status == 1)
        #expect(result.error.contains("there is no number after"))
    }

    @Test(.enabled(if: Tutorials.canRun, "gobjc and libgnustep-base-dev are not installed"))
    func `The files of a program with GNUstep are imported, and broken ones are named`() throws {
        let tutorials = try Tutorials.shared.get()
        let folder = desktop.directory.path + "/Private Documents"
        try desktop.run("cp", "-r", tutorials.file("Private Documents"), folder).requireOutput()
        for name in ["thumbImage.jpg", "fullImage.jpg"] {
            try "picture".write(
                toFile: "\(folder)/1.scarybug/\(name)", atomically: true, encoding: .utf8)
        }
        try desktop.run("mkdir", "\(folder)/10.scarybug").requireOutput()
        let result = desktop.example("ScaryBugs", "import", folder)
        #expect(result.status == 1)
        #expect(result.output == "1.scarybug is Bug 1\n2.scarybug is Bug 2\n")
        #expect(result.error.hasPrefix("ScaryBugs: 10.scarybug was left out. The file "))
        #expect(
            try show("Bug 1").requireOutput() == """
                Bug 1: Potato Bug, 4 of 5, habitat unknown
                thumbnail of 7 bytes
                image of 7 bytes

                """)
        #expect(
            try show("Bug 2").requireOutput()
                == "Bug 2: Wolf Spider, 2.5 of 5, habitat unknown\nno thumbnail\nno image\n")
    }

    @Test(arguments: ["/etc", "/nonexistent", ""])
    func `An import without a bug is an error, and so is an export`(_ folder: String) throws {
        let result = desktop.example("ScaryBugs", "import", folder)
        #expect(result.status == 1)
        #expect(result.output == "")
        #expect(result.error.hasPrefix("ScaryBugs: The folder \"\(folder)\" "), "\(result)")
        let export = desktop.example("ScaryBugs", "export", desktop.directory.path)
        #expect(export.status == 1)
        #expect(export.error == "ScaryBugs: There are no bugs. Nothing was exported.\n")
    }

    @Test(.enabled(if: Tutorials.canRun, "gobjc and libgnustep-base-dev are not installed"))
    func `Bugs are exported to files that a program with GNUstep reads, and imported again`() throws
    {
        let tutorials = try Tutorials.shared.get()
        _ = try add("Potato Bug", rating: "4.5")
        _ = try desktop.example("ScaryBugs", "add", "Wolf Spider", "0.5").requireOutput()
        let folder = desktop.directory.path
        let result = desktop.example("ScaryBugs", "export", folder)
        #expect(try result.requireOutput() == "Bug 1 is 1.scarybug\nBug 2 is 2.scarybug\n")
        #expect(
            try tutorials.read(folder + "/1.scarybug/data.plist")
                == "ScaryBugData(Potato Bug 4.5)\n")
        // What is there is not overwritten.
        let again = desktop.example("ScaryBugs", "export", folder)
        #expect(again.status == 1)
        #expect(again.error.hasPrefix("ScaryBugs: Bug 1 was left out. The folder "))

        try desktop.example("ScaryBugs", "import", folder).requireOutput()
        #expect(
            try show("Bug 3").requireOutput() == """
                Bug 3: Potato Bug, 4.5 of 5, habitat unknown
                thumbnail of \(Self.sizes.thumbnail) bytes
                image of \(Self.sizes.image) bytes

                """)
        #expect(try show("Bug 4").requireOutput().hasSuffix("no thumbnail\nno image\n"))
    }

    @Test(.enabled(if: Tutorials.canRun, "gobjc and libgnustep-base-dev are not installed"))
    func `An archive of a program with GNUstep is a bug, and the reverse`() throws {
        let tutorials = try Tutorials.shared.get()
        try desktop.store(tutorials.file("bug-2"), in: Self.domain, "Bug 1")
        #expect(try list() == "Bug 1: Wolf Spider, 2.5 of 5, habitat unknown\n")
        try desktop.example("ScaryBugs", "rate", "Bug 1", "3.5").requireOutput()
        let stored = try desktop.storedArchive(in: Self.domain, "Bug 1")
        #expect(try tutorials.read(stored) == "ScaryBugData(Wolf Spider 3.5)\n")
    }

    @Test func `A slider that moves sends fewer changes than it has steps, and no picture`() throws
    {
        _ = try add("Potato Bug")
        // What goes over the bus is counted, so the program is to use it.
        try FileManager.default.removeItem(
            atPath: desktop.directory.path + "/runtime/defaultsd/direct")
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
