import DefaultsClient
import ExampleSupport

// Documents with pictures of some megabytes.

let usage = """
    usage: ScaryBugs                                     lists the bugs
           ScaryBugs add TITLE RATING [THUMBNAIL IMAGE]  adds one, with pictures from files
           ScaryBugs show NAME                           shows one with its pictures
           ScaryBugs rate NAME RATING...                 moves the slider of the rating
           ScaryBugs title NAME TITLE                    changes the title
           ScaryBugs pictures NAME THUMBNAIL IMAGE       changes the pictures
           ScaryBugs without-pictures NAME               removes the pictures
           ScaryBugs delete NAME                         deletes one with its pictures
           ScaryBugs import FOLDER                       adds those of a folder with 1.scarybug ...
           ScaryBugs export FOLDER                       writes all of them into such a folder
    A name is "Bug 1", and a rating is 0, 0.5, 1 and so on up to 5.
    """

func line(_ name: String, _ bug: ScaryBugData) -> String {
    "\(name): \(bug.title), \(bug.rating) of 5, habitat \(bug.habitat)"
}

func title(_ text: String) throws -> String {
    guard text.contains(where: { !$0.isWhitespace }) else {
        throw Refusal("The title is empty. Enter a title.")
    }
    return text
}

await runProgram(usage: usage) { words in
    // Titles are free text, and not options such as `-LastNumber 7`.
    let bugs = ScaryBugDatabase(
        defaults: Defaults(domain: "org.example.ScaryBugs", arguments: []))
    func ready() throws -> ScaryBugDatabase {
        try bugs.defaults.requireService()
        return bugs
    }
    switch (words.first, words.count) {
    case (nil, _): try list(ready())
    case ("add", 3), ("add", 5):
        let data = ScaryBugData(title: try title(words[1]), rating: try Rating(words[2]))
        let pictures = words.count == 5 ? try Pictures(thumbnail: words[3], image: words[4]) : nil
        print(try await ready().add(data, pictures))
    case ("show", 2): try show(words[1], in: ready())
    case ("rate", 3...):
        try await ready().rate(words[1], words.dropFirst(2).map { try Rating($0) })
    case ("title", 3):
        let title = try title(words[2])
        try await ready().change(words[1]) { $0.title = title }
    case ("pictures", 4):
        let pictures = try Pictures(thumbnail: words[2], image: words[3])
        try await ready().setPictures(of: words[1], pictures)
    case ("without-pictures", 2): try await ready().setPictures(of: words[1], nil)
    case ("delete", 2): try await ready().delete(words[1])
    case ("import", 2): try await importAll(in: words[1], to: ready())
    case ("export", 2): try exportAll(of: ready(), to: words[1])
    default: throw WrongUsage()
    }
}

/// Lists all bugs.
///
/// A bug that cannot be read has a line too. The reason goes to standard error.
@MainActor func list(_ bugs: ScaryBugDatabase) throws {
    var failure: (any Error)?
    for name in bugs.names {
        do {
            print(line(name, try bugs.data(of: name)))
        } catch {
            print("\(name): cannot be read")
            if let failure { tell(sentence(of: failure)) }
            failure = error
        }
    }
    if let failure { throw failure }
}

@MainActor func show(_ name: String, in bugs: ScaryBugDatabase) throws {
    print(line(name, try bugs.data(of: name)))
    let pictures = [
        ("thumbnail", AnyDefaultsKey.thumbImage(of: name)), ("image", .fullImage(of: name)),
    ]
    for (kind, key) in pictures {
        let picture = try bugs.defaults.value(of: key)
        print(picture.map { "\(kind) of \($0.count) bytes" } ?? "no \(kind)")
    }
}

/// Adds the bugs of a folder, and says which of them cannot be read.
@MainActor func importAll(in folder: String, to bugs: ScaryBugDatabase) async throws {
    var failures = 0
    let names = try BugFolder.names(in: folder)
    guard !names.isEmpty else {
        throw Refusal(
            "The folder \"\(folder)\" has no bugs: a bug is a folder such as 1.scarybug. Nothing "
                + "was imported.")
    }
    for name in names {
        do {
            let (bug, pictures) = try BugFolder(path: "\(folder)/\(name)").load()
            print("\(name) is \(try await bugs.add(bug, pictures))")
        } catch {
            failures += 1
            tell("\(name) was left out. \(sentence(of: error))")
        }
    }
    guard failures == 0 else { throw Refusal("Not all bugs were imported: \(failures) left out.") }
}

/// Writes all bugs into a folder, and says which of them cannot be read or written.
@MainActor func exportAll(of bugs: ScaryBugDatabase, to folder: String) throws {
    var failures = 0
    guard !bugs.names.isEmpty else { throw Refusal("There are no bugs. Nothing was exported.") }
    for name in bugs.names {
        let file = "\(name.dropFirst("Bug ".count))\(BugFolder.suffix)"
        do {
            try BugFolder(path: "\(folder)/\(file)").save(
                bugs.data(of: name), bugs.pictures(of: name))
            print("\(name) is \(file)")
        } catch {
            failures += 1
            tell("\(name) was left out. \(sentence(of: error))")
        }
    }
    guard failures == 0 else { throw Refusal("Not all bugs were exported: \(failures) left out.") }
}
