import Testing

@testable import defaultsctl

/// What the grammar of macOS knows of the commands, against what the commands declare.
@Suite struct ArrangedVerbTests {
    private static let outline = Result { try CommandOutline.ofTool() }

    private static let commands: [CommandOutline] = (try? outline.get().subcommands) ?? []

    private static let verbs = commands.filter { Defaultsctl.arrangedVerb($0.commandName) != nil }

    @Test("Exactly the commands whose first word is a domain have the macOS grammar")
    func domains() throws {
        #expect(try Self.outline.get().verbs.count > 20)
        for command in Self.commands {
            let first = command.positions.first?.valueName
            let verb = Defaultsctl.arrangedVerb(command.commandName)
            #expect(
                (verb?.takesDomain ?? false)
                    == (first == "domain" || verb?.takesFile == true && first == "source"),
                "\(command.commandName)")
        }
    }

    @Test("A verb's options with a value are those that it declares", arguments: verbs)
    func optionsWithValue(command: CommandOutline) throws {
        let declared = command.options.filter(\.takesValue).flatMap(\.spellings)
        let verb = try #require(Defaultsctl.arrangedVerb(command.commandName))
        #expect(Set(declared) == verb.optionsWithValue.union(hostOptions(of: command)))
    }

    /// The option with a value that every verb takes which has layers of hosts.
    private func hostOptions(of command: CommandOutline) -> Set<String> {
        command.option(spelled: HostWords.nameOption) == nil ? [] : [HostWords.nameOption]
    }

    @Test("A verb's flags with one hyphen are those that it declares", arguments: verbs)
    func shortFlags(command: CommandOutline) throws {
        let declared = command.options.flatMap(\.spellings).filter { !$0.hasPrefix("--") }
        let verb = try #require(Defaultsctl.arrangedVerb(command.commandName))
        #expect(Set(declared).subtracting(["-h"]) == verb.shortFlags)
    }

    @Test("A verb that refuses unknown options knows all that it declares", arguments: verbs)
    func allOptions(command: CommandOutline) throws {
        let verb = try #require(Defaultsctl.arrangedVerb(command.commandName))
        guard let known = verb.allOptions else { return }
        let declared = command.options.flatMap(\.spellings).filter { $0.hasPrefix("--") }
        // The library has this one without declaring it.
        #expect(known == Set(declared).union(["--generate-completion-script"]))
    }

    @Test("A verb with only a host can do without a domain", arguments: verbs)
    func hostAlone(command: CommandOutline) throws {
        let verb = try #require(Defaultsctl.arrangedVerb(command.commandName))
        guard verb.takesHostAlone else { return }
        #expect(command.option(spelled: HostWords.nameOption) != nil)
        #expect(!verb.takesDomain || command.positions.first?.isOptional == true)
    }

    @Test("The macOS spellings of a verb mean that verb")
    func spellings() {
        #expect(Defaultsctl.arrangedVerb("READ") == Read.self)
        #expect(Defaultsctl.arrangedVerb("remove") == Delete.self)
        #expect(Defaultsctl.arrangedVerb("status") == nil)
        #expect(Self.verbs.count == 17)
    }
}
