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
            Like --dry-run. Exit status: 0 if nothing is to be done, 2 if something is, 1 if it would \
            be refused.
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

    /// The first one that was given; they are for documents only.
    var firstGiven: String? {
        if dryRun { return "--dry-run" }
        if check { return "--check" }
        if json { return "--json" }
        if skipLocked { return "--skip-locked" }
        return adopted == .keep ? nil : "--adopted"
    }

    /// Refuses options that contradict each other.
    func validate(with change: ChangeOptions) throws {
        if json, change.changed {
            throw ValidationError("--json includes what --changed prints. Give one of them.")
        }
        if changesNothing, change.changed || change.wait {
            throw ValidationError(
                "\(check ? "--check" : "--dry-run") changes nothing, so --changed and --wait mean nothing."
            )
        }
    }
}

/// What `apply` may do to keys that the document does not name, or that others own.
struct OwnershipOptions: ParsableArguments {
    @Flag(help: "Do not ask if most keys of the owner would go back.")
    var yes = false

    @Flag(help: "Take over keys that another owner has.")
    var forceConflicts = false

    /// The first one that was given.
    var firstGiven: String? {
        if yes { return "--yes" }
        return forceConflicts ? "--force-conflicts" : nil
    }
}

extension Owner: ExpressibleByArgument {
    /// Reads a word of a command line.
    public init?(argument: String) { self.init(argument) }
}
