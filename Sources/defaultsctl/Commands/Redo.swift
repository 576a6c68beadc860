import ArgumentParser
import DefaultsClient

struct Redo: HistoryCommand {
    static let configuration = CommandConfiguration(
        commandName: "redo",
        abstract: "Makes again what an undo has taken back.",
        discussion: """
            Without a number, it is the newest undo that was not made again yet. If a person has changed \
            something after it, its number must be given, which 'defaultsctl undo' and 'defaultsctl \
            history' print. It shows what changes, and asks, as 'defaultsctl undo' does. Exit status: 0, or 1 if nothing \
            was changed.
            """)

    @Argument(help: "The number of an undo.")
    var number: String?

    @OptionGroup var flags: TakingBackFlags

    func check() throws {
        guard let number else { return }
        guard case .number = try HistoryWord(number) else { throw ToolError.noActionNumber(number) }
    }

    func run(withHistoryOf defaults: RemoteDefaults) async throws {
        let search = TargetSearch(defaults: defaults)
        let target: TakingBackTarget
        if let number, case .number(let number) = try HistoryWord(number) {
            target = try await search.undo(number)
        } else {
            target = try await search.newestUndo()
        }
        try await TakingBack(flags: flags, defaults: defaults).run(target)
    }
}
