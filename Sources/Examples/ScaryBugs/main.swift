import DefaultsClient
import Foundation

// Documents with pictures of some megabytes.
//
//     ScaryBugs                                       lists the bugs
//     ScaryBugs add TITLE RATING THUMBNAIL IMAGE      adds one, with pictures from files
//     ScaryBugs show "Bug 1"                          shows one with its pictures
//     ScaryBugs rate "Bug 1" 1 2 3                    moves the slider of the rating
//     ScaryBugs delete "Bug 1"                        deletes one

let defaults = Defaults(domain: "org.example.ScaryBugs")
let bugs = BugCollection(defaults: defaults)
let words = Array(CommandLine.arguments.dropFirst())

func line(_ name: String, _ bug: Bug) -> String {
    "\(name): \(bug.title), \(bug.rating) of 5, habitat \(bug.habitat)"
}

func end(_ message: String) -> Never {
    print(message)
    exit(1)
}

/// The bug that the command names.
func namedBug() -> (name: String, bug: Bug) {
    guard words.count > 1, let bug = defaults[.bug(words[1])] else { end("There is no such bug.") }
    return (words[1], bug)
}

switch (words.first, words.count) {
case (nil, _):
    for name in bugs.names {
        if let bug = defaults[.bug(name)] { print(line(name, bug)) }
    }
case ("add", 5):
    guard let rating = Int(words[2]), 0...5 ~= rating else { end("A rating is from 0 to 5.") }
    let name = try await bugs.add(
        Bug(title: words[1], rating: rating),
        thumbnail: Data(contentsOf: URL(filePath: words[3])),
        image: Data(contentsOf: URL(filePath: words[4])))
    print(name)
case ("show", 2):
    let (name, bug) = namedBug()
    print(line(name, bug))
    print("thumbnail of \(defaults[.thumbnail(of: name)]?.count ?? 0) bytes")
    print("image of \(defaults[.image(of: name)]?.count ?? 0) bytes")
case ("rate", 3...):
    let (name, _) = namedBug()
    for rating in words.dropFirst(2).compactMap({ Int($0) }) { bugs.rate(name, rating) }
case ("delete", 2):
    bugs.delete(namedBug().name)
default:
    end(
        "usage: ScaryBugs [add TITLE RATING THUMBNAIL IMAGE | show NAME | rate NAME N… | delete NAME]"
    )
}
