import ArgumentParser
import DefaultsTerms
import OwnedDocuments

/// Options of verbs that make a document's values so, or take them back.
struct DocumentOptions: ParsableArguments {
    enum Adopted: String, ExpressibleByArgument, CaseIterable {
        case keep, remove
    }

    @Flag(help: "Print what would be done, and change nothing.")
    var dryRun = false

    @Flag(
        help: """
            The same, and exit with status 2 if there is something to do, and with 1 if it would be \
            refused.
            """)
    var check = false

    @Flag(help: "Print what is done as a JSON object.")
    var json = false

    @Flag(help: "Leave keys that the administrator has locked; without this they are an error.")
    var skipLocked = false

    @Option(
        help: ArgumentHelp(
            "What becomes of values that were there before the owner wanted the same, and that it wants no "
                + "more: keep or remove.", valueName: "what"))
    var adopted = Adopted.keep

    var changesNothing: Bool { dryRun || check }

    /// Whether one of them was given, which are for documents only.
    var areGiven: Bool {
        dryRun || check || json || skipLocked || adopted != .keep
    }
}

/// What `apply` may do to keys that it was not told of.
struct OwnershipOptions: ParsableArguments {
    @Flag(help: "Do not ask if most keys of the owner would go back.")
    var yes = false

    @Flag(help: "Take over keys that another owner has.")
    var forceConflicts = false
}

extension Owner: ExpressibleByArgument {
    /// Reads a word of a command line.
    public init?(argument: String) { self.init(argument) }
}
