import DBus
import DefaultsFiles
import Foundation
import TestSupport
import Testing

@testable import ServiceHarness
@testable import ToolHarness

/// What `undo` and `redo` do, say and ask.
@Suite(.inSession) struct UndoTests {
    private let session = TestSession.current

    private static let app = "org.example.App"

    private func write(_ key: String, _ number: Int) async {
        #expect(await session.tool("write", Self.app, key, "-int", "\(number)").status == 0)
    }

    /// The value of a key; nil if it has none.
    private func value(_ key: String = "Key") async -> String? {
        let read = await session.tool("read", Self.app, key)
        return read.status == 0 ? read.output.trimmingCharacters(in: .newlines) : nil
    }

    @discardableResult
    private func yes(_ words: String...) async throws -> String {
        try await session.tool(words + ["--yes"]).requireOutput().withoutTimes
    }

    private func refusal(_ words: String...) async -> (text: String, output: String, status: Int32)
    {
        let result = await session.tool(words)
        return (result.error.withoutTimes, result.output.withoutTimes, result.status)
    }

    // MARK: Back and forth

    @Test func `Doing it again goes further back, and redo goes forward`() async throws {
        await write("Key", 1)
        await write("Key", 2)
        #expect(
            try await yes("undo").contains(
                "  org.example.App Key: 2 -> 1\ntaken back; to redo: defaultsctl redo 3\n"))
        #expect(await value() == "1")
        try await yes("undo")
        #expect(await value() == nil)
        let nothing = await refusal("undo", "--yes")
        #expect(
            nothing.status == 1 && nothing.text.contains("There is nothing to undo"), "\(nothing)")
        try await yes("redo")
        #expect(await value() == "1")
        #expect(try await yes("redo").contains("  org.example.App Key: 1 -> 2\n"))
        #expect(await value() == "2")
        let none = await refusal("redo", "--yes")
        #expect(none.status == 1 && none.text.contains("There is nothing to redo"), "\(none)")
        try await yes("undo")
        #expect(await value() == "1")
    }

    @Test func `A number names any action, also an older one`() async throws {
        await write("One", 1)
        await write("Two", 2)
        let text = try await yes("undo", "1")
        #expect(text.hasPrefix("Takes back 1 of TIME, "), "\(text)")
        #expect(await value("One") == nil)
        #expect(await value("Two") == "2")
        let again = await refusal("undo", "1", "--yes")
        #expect(again.status == 1 && again.text.contains("is taken back already"))
        let undo = await refusal("undo", "3", "--yes")
        #expect(undo.text.contains("is itself an undo") && undo.text.contains("defaultsctl redo 3"))
        let change = await refusal("redo", "1", "--yes")
        #expect(change.text.contains("taken back by 3: 'defaultsctl redo 3'"), "\(change)")
        let other = await refusal("redo", "2", "--yes")
        #expect(other.status == 1 && other.text.contains("Action 2 is not an undo."))
        try await yes("redo", "3")
        #expect(await value("One") == "1")
        let redone = await refusal("redo", "3", "--yes")
        #expect(redone.text.contains("is made again already"), "\(redone)")
        #expect(await refusal("undo", "99", "--yes").text.contains("no action 99"))
        let several = await refusal("undo", "2", "1", "--yes")
        #expect(
            several.status == 64
                && several.text.contains("'defaultsctl undo 2' and 'defaultsctl undo 1'"))
    }

    @Test func `After another change, redo needs the number`() async throws {
        await write("Key", 1)
        try await yes("undo")
        await session.service.advance(by: .seconds(1))
        await write("Other", 2)
        let refused = await refusal("redo", "--yes")
        #expect(refused.status == 1, "\(refused)")
        #expect(
            refused.text.contains("came after the undo 2")
                && refused.text.contains("defaultsctl redo 2"))
        try await yes("redo", "2")
        #expect(await value() == "1")
    }

    @Test func `What programs store by themselves is passed over, and named`() async throws {
        await write("Key", 1)
        await session.tool("write", "org.example.Panel", "Size", "-int", "3")
        try await session.attribute(2...2, to: "xfce4-panel")
        let text = try await yes("undo")
        #expect(text.hasPrefix("Takes back 1 of"), "\(text)")
        #expect(text.contains("Skips 2 (xfce4-panel): org.example.Panel Size\n"), "\(text)")
        #expect(await session.tool("read", "org.example.Panel", "Size").output == "3\n")
        try await yes("undo", "2")
        #expect(await session.tool("read", "org.example.Panel", "Size").status == 1)
    }

    @Test func `A domain, or a key, means the newest action that has changed it`() async throws {
        let caller = try await session.service.caller()
        try await caller.apply(Self.app, ["One": 1, "Two": 1])
        await session.service.advance(by: .seconds(3))
        try await caller.apply(Self.app, ["One": 2, "Two": 2])
        await session.tool("write", "org.example.Other", "Key", "-int", "3")
        let text = try await yes("undo", Self.app, "One")
        #expect(text.contains("org.example.App One: 2 -> 1") && !text.contains("Two"), "\(text)")
        #expect(await value("One") == "1")
        #expect(await value("Two") == "2")
        // The part is taken back, so the next one is that of the action before.
        try await yes("undo", Self.app, "One")
        #expect(await value("One") == nil)
        #expect(
            await refusal("undo", Self.app, "One", "--yes").text.contains(
                "There is nothing to undo"))
        try await yes("undo", Self.app)
        #expect(await value("Two") == "1")
        #expect(await session.tool("read", "org.example.Other", "Key").output == "3\n")
        #expect(await refusal("undo", "org.example.None", "--yes").status == 1)
    }

    // MARK: Back to a time

    @Test func `With a time, each key gets what it had then`() async throws {
        session.useSystemTime()
        await write("Key", 1)
        await write("Other", 1)
        await write("Key", 2)
        await write("Key", 3)
        await session.tool("delete", Self.app, "Other")
        await session.tool("write", "org.example.Else", "Key", "-int", "4")
        try await session.date(1...2, hoursAgo: 2)
        let text = try await yes("undo", Self.app, "--to", "1h")
        #expect(text.hasPrefix("Takes back 3 actions:\n  5 of TIME"), "\(text)")
        #expect(text.contains("  org.example.App Key: 3 -> 1\n"))
        #expect(text.contains("  org.example.App Other: (not set) -> 1\n"))
        #expect(await value() == "1")
        #expect(await value("Other") == "1")
        #expect(await session.tool("read", "org.example.Else", "Key").output == "4\n")
        try await yes("redo")
        #expect(await value() == "3")
        try await yes("undo", "--since", "1h")
        #expect(await value() == "1")
        #expect(await session.tool("read", "org.example.Else", "Key").status == 1)
        let none = await refusal("undo", "--since", "1m", "--program", "nobody", "--yes")
        #expect(none.status == 1 && none.text.contains("There is nothing to undo"))
    }

    @Test func `With a time alone, it is what a person has changed, and the rest is named`()
        async throws
    {
        session.useSystemTime()
        await write("Key", 1)
        await session.tool("write", "org.example.Panel", "Size", "-int", "3")
        try await session.attribute(2...2, to: "xfce4-panel")
        let text = try await yes("undo", "--since", "1h")
        #expect(text.contains("Skips 2 (xfce4-panel): org.example.Panel Size\n"), "\(text)")
        #expect(await value() == nil)
        try await yes("undo", "--since", "1h", "--program", "xfce4-panel")
        #expect(await session.tool("read", "org.example.Panel", "Size").status == 1)
    }

    @Test func `With a time alone, what only programs have changed is said to be so`() async throws
    {
        session.useSystemTime()
        await session.tool("write", "org.example.Panel", "Size", "-int", "3")
        try await session.attribute(1...1, to: "xfce4-panel")
        let none = await refusal("undo", "--since", "1h", "--yes")
        #expect(none.status == 1 && none.text.contains("(xfce4-panel)"), "\(none)")
        #expect(none.text.contains("give a number, a domain or --program"), "\(none)")
    }

    @Test func `The size of a window is passed over`() async throws {
        await write("Key", 1)
        await write("window-width", 800)
        let text = try await yes("undo")
        #expect(text.hasPrefix("Takes back 1 of"), "\(text)")
        #expect(text.contains(": org.example.App window-width\n"), "\(text)")
        #expect(await value("window-width") == "800")
    }

    @Test func `A key that has its earlier value again is not in the way`() async throws {
        let caller = try await session.service.caller()
        try await caller.apply(Self.app, ["One": 1, "Two": 1])
        await session.service.advance(by: .seconds(3))
        try await caller.apply(Self.app, ["One": 2, "Two": 2])
        await write("Two", 1)
        let text = try await yes("undo", "2")
        #expect(
            text.contains("  org.example.App One: 2 -> 1\n") && !text.contains("Two"), "\(text)")
        #expect(await value("One") == "1")
        // Nothing is left of it, so the next one is another.
        await session.tool("delete", Self.app, "One")
        await write("One", 1)
        #expect(await refusal("undo", "2", "--yes").text.contains("Nothing is left of action 2"))
    }

    @Test func `An action that had begun before the time is taken back as a whole, and named`()
        async throws
    {
        session.useSystemTime()
        await write("Key", 1)
        try await session.changeHistory("UPDATE actions SET began = began - 7200")
        let text = try await yes("undo", "--since", "1h")
        #expect(
            text.contains("  1 had begun before that time, and is taken back as a whole\n"),
            "\(text)")
        #expect(await value() == nil)
    }

    @Test func `With a program, only what it has changed goes back`() async throws {
        session.useSystemTime()
        await write("Mine", 1)
        await write("Theirs", 1)
        await write("Both", 1)
        await write("Both", 2)
        try await session.attribute(2...3, to: "panel")
        let refused = await refusal("undo", "--since", "1h", "--program", "panel", "--yes")
        #expect(refused.status == 1)
        #expect(
            refused.output.contains(
                "In the way:\n  org.example.App Both: was changed since by 4 ("), "\(refused)")
        #expect(await value("Theirs") == "1")
        try await yes("undo", "--since", "1h", "--program", "panel", "--partial")
        #expect(await value("Theirs") == nil)
        #expect(await value("Mine") == "1")
        #expect(await value("Both") == "2")
    }

    @Test func `An undo and a redo since a time are not in the way: each key gets what it had`()
        async throws
    {
        session.useSystemTime()
        await write("Key", 1)
        await write("Other", 1)
        try await session.date(1...2, hoursAgo: 2)
        try await yes("undo", "1")
        await session.service.advance(by: .seconds(1))
        await write("Other", 2)
        let text = try await yes("undo", "--since", "1h")
        #expect(text.contains("  org.example.App Key: (not set) -> 1\n"), "\(text)")
        #expect(text.contains("  org.example.App Other: 2 -> 1\n"), "\(text)")
        #expect(text.contains("undo of 1\n"), "\(text)")
        #expect(await value("Key") == "1")
        #expect(await value("Other") == "1")
        // The undo is taken back, so its action counts again, and can be taken back again.
        #expect(await session.tool("history", "1").output.contains("undone") == false)
        try await yes("redo")
        #expect(await value("Key") == nil)
        #expect(await value("Other") == "2")
        #expect(await session.tool("history", "1").output.contains("undone"))
        try await yes("undo", Self.app, "--to", "1h")
        #expect(await value("Key") == "1")
        #expect(await value("Other") == "1")
    }

    @Test func `A key that went there and back since a time keeps its value`() async throws {
        session.useSystemTime()
        await write("Key", 1)
        await write("Switch", 0)
        try await session.date(1...2, hoursAgo: 2)
        await write("Key", 2)
        await write("Key", 1)
        for value in [1, 0, 1] { await write("Switch", value) }
        let text = try await yes("undo", Self.app, "--to", "1h")
        #expect(text.contains("  org.example.App Switch: 1 -> 0\n"), "\(text)")
        #expect(!text.contains("Key"), "\(text)")
        #expect(await value("Key") == "1")
        #expect(await value("Switch") == "0")
        let none = await refusal("undo", Self.app, "--to", "1h", "--yes")
        #expect(
            none.status == 1 && none.text.contains("the values that they had then"), "\(none)")
    }

    @Test func `A redo can be taken back by its number`() async throws {
        await write("Key", 1)
        try await yes("undo")
        try await yes("redo")
        #expect(await value() == "1")
        #expect(try await yes("undo", "3").hasPrefix("Takes back 3 of"))
        #expect(await value() == nil)
        #expect(await session.tool("history", "1").output.contains("undone"))
    }

    @Test func `What a dialog answers is not in the way, and is not named`() async throws {
        session.useSystemTime()
        let dialog = try await session.service.caller()
        try await dialog.set(Self.app, "Font", 1)
        await session.service.advance(by: .seconds(3))
        try await dialog.set(Self.app, "Font", 2)
        await session.service.advance(by: .seconds(3))
        try await yes("undo")
        await session.service.advance(by: .milliseconds(20))
        try await dialog.set(Self.app, "Font", 7)
        await session.service.advance(by: .seconds(3))
        let text = try await yes("redo")
        #expect(text.contains("org.example.App Font: 7 -> 2"), "\(text)")
        let again = try await yes("undo")
        #expect(!again.contains("Skips") && again.contains("Font: 2 -> 1"), "\(again)")
        try await yes("redo")
        // Nor is it in the way of what goes back to a time.
        try await session.date(1...1, hoursAgo: 2)
        let since = try await yes("undo", "--since", "1h")
        #expect(since.contains("Font: 2 -> 1"), "\(since)")
    }

    @Test func `An answer that is there is named, and is taken back by its number`() async throws {
        let dialog = try await session.service.caller()
        try await dialog.set(Self.app, "Font", 1)
        await session.service.advance(by: .seconds(3))
        try await dialog.set(Self.app, "Font", 2)
        await session.service.advance(by: .seconds(3))
        try await yes("undo")
        try await dialog.set(Self.app, "Font", 7)
        let skipped = await refusal("undo", "--dry-run")
        #expect(skipped.output.contains("Skips 4 ("), "\(skipped)")
        #expect(try await yes("undo", "4").contains("org.example.App Font: 7 -> 1\n"))
    }

    @Test func `A key that an action has left as it was does not make it undone`()
        async throws
    {
        session.useSystemTime()
        await write("Font", 1)
        await write("Size", 1)
        try await session.date(1...2, hoursAgo: 2)
        let caller = try await session.service.caller()
        try await caller.set(Self.app, "Font", 2)
        try await caller.set(Self.app, "Size", 2)
        try await caller.set(Self.app, "Font", 1)
        await session.service.advance(by: .seconds(3))
        await write("Font", 3)
        try await yes("undo", Self.app, "Font", "--to", "1h")
        #expect(await value("Font") == "1")
        let text = try await yes("undo")
        #expect(text.contains("  org.example.App Size: 2 -> 1\n"), "\(text)")
    }

    @Test func `Going back to the same time again and again takes no longer and longer`()
        async throws
    {
        session.useSystemTime()
        await write("Key", 1)
        try await session.date(1...1, hoursAgo: 2)
        for number in 2...30 {
            await write("Key", number)
            try await yes("undo", Self.app, "--to", "1h")
            #expect(await value() == "1")
        }
        #expect(try await session.shown("history").contains("undone"))
    }

    @Test func `What never was in the history is said to be so`() async throws {
        session.useSystemTime()
        await write("Font", 1)
        let none = await refusal("undo", "font", "--yes")
        #expect(none.text.contains("no change of font at all"), "\(none)")
        #expect(none.text.contains("'defaultsctl history --find font'"), "\(none)")
        let program = await refusal("undo", "--since", "1h", "--program", "editr", "--yes")
        #expect(program.text.contains("no change by a program 'editr' at all"), "\(program)")
    }

    // MARK: Keys in the way

    @Test func `A key that was changed since is named, left or replaced`() async throws {
        let caller = try await session.service.caller()
        try await caller.apply(Self.app, ["One": 1, "Two": 1])
        await write("Two", 2)
        let refused = await refusal("undo", "1", "--yes")
        #expect(refused.status == 1)
        #expect(
            refused.output.contains("In the way:\n  org.example.App Two: was changed since by 2 ("))
        #expect(
            refused.text.contains(
                "1 key cannot be taken back. --partial leaves it as it is. --force also replaces newer changes. Nothing was changed."
            ), "\(refused)")
        #expect(await value("One") == "1")
        try await yes("undo", "1", "--partial")
        #expect(await value("One") == nil)
        #expect(await value("Two") == "2")
        let text = try await yes("undo", "1", "--force")
        #expect(
            text.contains(
                "Replaces what was changed since:\n  org.example.App Two: 2 -> (not set)  (over 2 ("
            ),
            "\(text)")
        #expect(await value("Two") == nil)
    }

    @Test func `What is left of an action that was taken back in part is passed over`() async throws
    {
        await write("Zero", 0)
        let caller = try await session.service.caller()
        try await caller.apply(Self.app, ["One": 1, "Two": 1])
        await write("Two", 2)
        try await session.attribute(3...3, to: "xfce4-panel")
        #expect(await refusal("undo", "--yes").status == 1)
        try await yes("undo", "--partial")
        #expect(await value("One") == nil)
        let text = try await yes("undo")
        #expect(text.hasPrefix("Takes back 1 of TIME"), "\(text)")
        #expect(text.contains("\nSkips 2 ("), "\(text)")
        #expect(await value("Zero") == nil)
        #expect(await value("Two") == "2")
    }

    @Test func `A locked key is refused, and left by --partial`() async throws {
        let caller = try await session.service.caller()
        try await caller.apply(Self.app, ["One": 1, "Two": 1])
        try await session.write(
            #"{"$locked": ["Two"]}"#, to: "\(Self.app).json", in: .managed)
        for options in [["--yes"], ["--yes", "--force"]] {
            let refused = await session.tool(["undo", "1"] + options)
            #expect(refused.status == 1, "\(refused)")
            #expect(refused.output.contains("org.example.App Two: is locked by the administrator"))
            #expect(!refused.error.contains("--force"))
        }
        try await yes("undo", "1", "--partial")
        #expect(await value("One") == nil)
        #expect(await value("Two") == "1")
    }

    @Test func `Keys that the history does not have are refused, and left by --partial`()
        async throws
    {
        let caller = try await session.service.caller()
        try await caller.apply(Self.app, ["One": 1, "Two": 1])
        try await session.changeHistory("DELETE FROM rows WHERE key = 'Two'")
        let refused = await refusal("undo", "1", "--yes")
        #expect(refused.status == 1, "\(refused)")
        #expect(
            refused.output.contains("  1 key of 1 (")
                && refused.output.contains("the history does not have what it had"),
            "\(refused)")
        #expect(await value("One") == "1")
        try await yes("undo", "1", "--partial")
        #expect(await value("One") == nil)
        #expect(await value("Two") == "1")
    }

    // MARK: Questions

    @Test func `It asks on a terminal, and elsewhere it needs --yes`() async throws {
        await write("Key", 1)
        let scripted = await refusal("undo")
        #expect(scripted.status == 64 && scripted.text.contains("Give --yes"), "\(scripted)")
        #expect(scripted.output.contains("org.example.App Key: 1 -> (not set)"))
        for answer in ["", "n\n", "no\n", "what\n"] {
            let (text, status) = await session.onTerminal(["undo"], input: answer)
            #expect(status == 1 && text.contains("Take this back? [y/N] "), "\(text)")
            #expect(text.contains("Nothing was changed."))
        }
        #expect(await value() == "1")
        let (_, undone) = await session.onTerminal(["undo"], input: "y\n")
        #expect(undone == 0)
        #expect(await value() == nil)
        let (text, redone) = await session.onTerminal(["redo"], input: "yes\n")
        #expect(redone == 0 && text.contains("Make this again? [y/N] "))
        #expect(await value() == "1")
    }

    @Test func `--dry-run changes nothing, and asks nothing`() async throws {
        await write("Key", 1)
        let generation = try await session.generation()
        let (text, status) = await session.onTerminal(["undo", "--dry-run"])
        #expect(status == 0 && text.contains("Key: 1 -> (not set)") && !text.contains("[y/N]"))
        #expect(try await session.tool("undo", "--dry-run").requireOutput().contains("Key"))
        #expect(try await session.generation() == generation)
    }

    @Test func `--changed prints one word for programs`() async throws {
        await write("Key", 1)
        let result = await session.tool("undo", "--yes", "--changed")
        #expect(result.output == "changed\n" && result.error.contains("Key: 1 -> (not set)"))
    }

    @Test func `A drag that goes on after the question is shown again`() async throws {
        let caller = try await session.service.caller()
        try await caller.set(Self.app, "Slider", 1)
        try await caller.set(Self.app, "Slider", 2)
        let goOn = session.service.running.change(
            Self.app, "Slider", to: "3", by: caller.name)
        let (text, status) = await session.onTerminal(
            ["undo"], input: "y\ny\n", whenAsked: goOn)
        #expect(status == 0, "\(text)")
        #expect(text.contains("org.example.App Slider: 2 -> (not set)"), "\(text)")
        #expect(text.contains("Something has changed meanwhile."), "\(text)")
        #expect(text.contains("org.example.App Slider: 3 -> (not set)"), "\(text)")
        #expect(await value("Slider") == nil)
    }

    @Test func `What another program changes after the question is not replaced`() async throws {
        await write("Key", 1)
        for options in [[], ["--force"], ["--partial"]] {
            await write("Key", 2)
            let other = session.service.running.change(
                Self.app, "Key", to: "9", by: ":other")
            let (text, status) = await session.onTerminal(
                ["undo"] + options, input: "y\nn\n", whenAsked: other)
            #expect(status == 1, "\(text)")
            #expect(text.contains("Something has changed meanwhile."), "\(options) \(text)")
            #expect(await value() == "9")
        }
    }

    @Test func `With --yes, a change meanwhile is an error`() async throws {
        let caller = try await session.service.caller()
        try await caller.apply(Self.app, ["One": 1])
        let (text, status) = await session.onTerminal(["undo", "--yes"])
        #expect(status == 0 && !text.contains("[y/N]"), "\(text)")
    }

    @Test func `Hostile names do not steer a terminal`() async throws {
        let hostile = "x\u{1B}[2J\r\n\u{202E}z"
        await session.tool("write", Self.app, hostile, "-string", hostile)
        for words in [
            ["history"], ["undo", "--dry-run"], ["history", "--patch"], ["history", "--json"],
        ] {
            let (text, status) = await session.onTerminal(words)
            #expect(status == 0 && text.contains("2J"), "\(words)")
            #expect(
                !text.unicodeScalars.contains {
                    $0 != "\n" && $0.properties.generalCategory == .control || $0 == "\u{202E}"
                },
                "\(words): \(text)")
        }
    }
}
