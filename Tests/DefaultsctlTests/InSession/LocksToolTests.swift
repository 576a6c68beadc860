import DefaultsFiles
import Foundation
import TestSupport
import Testing

@testable import ToolHarness

/// What the tool reports about locks, and what it does if something is locked.
@Suite(.inSession) struct LocksToolTests {
    let session = TestSession.current

    private static let app = "org.example.App"

    private func json(_ words: String...) async throws -> Any {
        try JSONSerialization.jsonObject(with: Data(await session.tool(words).requireOutput().utf8))
    }
}

// MARK: Locks

extension LocksToolTests {
    @Test func `locked answers by its exit status, names the file, and lists locks`() async throws {
        try await session.write(
            #"{"Theme": "dark", "$locked": ["Pre*"]}"#, to: "\(Self.app).json", in: .managed)
        try await session.write(#"{"$locked": ["Every"]}"#, to: "NSGlobalDomain.json", in: .managed)
        let file = session.path(of: "\(Self.app).json", in: .managed)
        let global = session.path(of: "NSGlobalDomain.json", in: .managed)
        for (key, path) in [("Theme", file), ("Prefixed", file), ("Every", global)] {
            let locked = await session.tool("locked", Self.app, key)
            #expect(locked.status == 0)
            #expect(locked.output == "\(key) of \(Self.app) is locked by \(path)\n")
        }
        let free = await session.tool("locked", Self.app, "Free")
        #expect(free.status == 1 && free.output == "Free of \(Self.app) is not locked\n")
        #expect(free.error == "")
        let notLocked = await session.tool("locked", Self.app, "Free", "--json")
        #expect(
            notLocked.status == 1 && notLocked.output == #"{"locked":false,"file":null}"# + "\n")
        let list = try #require(await json("locked", Self.app, "--json") as? [[String: String]])
        #expect(Set(list.compactMap { $0["key"] }) == ["Theme", "Pre*", "Every"])
        #expect(list.last == ["key": "Every", "file": global])
        let text = try await session.tool("locked", Self.app).requireOutput()
        #expect(text.contains("Pre*   \(file)\n") && text.hasSuffix("Every  \(global)\n"))
        #expect(await session.tool("locked", "-g").output == "Every  \(global)\n")
        #expect(await session.tool("locked", "org.example.Other", "Theme").status == 1)
    }

    @Test func `locked asks whether a mistyped key or domain was meant`() async {
        await session.tool("write", Self.app, "Theme", "-int", "1")
        let key = await session.tool("locked", Self.app, "Thme")
        #expect(key.status == 1 && key.output == "Thme of \(Self.app) is not locked\n")
        let question = "Did you mean 'Theme'?\n"
        #expect(key.error.hasSuffix("No layer has the key 'Thme' of \(Self.app). \(question)"))
        let domain = await session.tool("locked", "org.exmaple.App")
        #expect(domain.status == 0 && domain.output == "")
        #expect(
            domain.error.hasSuffix("No layer has org.exmaple.App. Did you mean '\(Self.app)'?\n"))
    }

    /// Commands that would change a locked key, and what they read.
    static let refused: [(words: [String], input: String)] = [
        (["write", app, "Locked", "-int", "2"], ""), (["delete", app, "Locked"], ""),
        (["write", app, "Locked", "--path", "a", "-int", "2"], ""),
        (["write", app + "@host", "Locked", "-int", "2"], ""),
        (["-currentHost", "write", app, "Locked", "-int", "2"], ""),
        (["rename", app, "Locked", "Other"], ""),
        (["rename", app, "Free", "Locked", "--replace"], ""),
        (["delete", app], ""), (["delete-all", app], ""), (["delete-all", app, "Locked"], ""),
        (["write", app, "{ Locked = 2; Free = 3; }"], ""),
        (["import", app, "-"], #"{"Locked": 2, "Free": 3}"#),
        (["import", "--replace", app, "-"], #"{"New": 2}"#),
        (
            ["apply"],
            "write org.example.First Key -int 2\nwrite \(app) Free -int 3\ndelete \(app) Locked\n"
        ),
        (
            ["apply"],
            #"{"domain":"org.example.First","key":"Key","value":2}"# + "\n"
                + #"{"domain":"\#(app)","key":"Locked","value":2}"#
        ),
    ]

    @Test(arguments: refused)
    func `A write to a locked key names key and file, and nothing is changed`(
        words: [String], input: String
    ) async throws {
        await session.tool("write", Self.app, "Locked", "--json", #"{"a":1}"#)
        await session.tool("write", Self.app, "Free", "-int", "1")
        await session.tool("write", "\(Self.app)@host", "Free", "-int", "1")
        try await session.write(
            #"{"$locked": ["Lock*"]}"#, to: "\(Self.app).d/10-lock.json", in: .managed)
        let before = await session.tool("read", "--json").output
        let answer = await session.tool(words, input: input)
        #expect(answer.status == 1 && answer.output == "", "\(answer)")
        #expect(answer.error.split(separator: "\n").count == 1)
        #expect(answer.error.contains("Locked"))
        #expect(answer.error.contains(session.path(of: "\(Self.app).d/10-lock.json", in: .managed)))
        #expect(await session.tool("read", "--json").output == before)
        // When the lock goes, so does the refusal.
        try await session.remove("\(Self.app).d/10-lock.json", in: .managed)
        let done = await session.tool(words, input: input)
        #expect(done.status == 0, "\(done)")
    }

    @Test func `apply names the line of the locked key, and the lock`() async throws {
        try await session.write(#"{"$locked": ["Own"]}"#, to: "\(Self.app).json", in: .managed)
        try await session.write(
            #"{"$locked": ["Shared"]}"#, to: "NSGlobalDomain.json", in: .managed)
        func apply(_ lines: String...) async -> String {
            await session.tool(
                ["apply"],
                input: lines.joined(separator: "\n")
            ).error
        }
        let own = session.path(of: "\(Self.app).json", in: .managed)
        let shared = session.path(of: "NSGlobalDomain.json", in: .managed)
        let free = "write \(Self.app) Free -int 1"
        #expect(
            await apply(free, "write \(Self.app) Own -int 1").hasSuffix(
                "standard input, line 2: The key 'Own' of \(Self.app) is locked by the "
                    + "administrator, in \(own). Nothing was changed.\n"))
        let words =
            "The key 'Shared' of \(Self.app) is locked for all applications by the administrator, "
            + "in \(shared). Nothing was changed.\n"
        let lines = ["", free, #"{"domain":"\#(Self.app)","key":"Shared","value":1}"#, free]
        #expect(
            await apply(lines[0], lines[1], lines[2], lines[3]).hasSuffix(
                "standard input, line 3: \(words)"))
        #expect(await session.tool("write", Self.app, "Shared", "-int", "1").error.hasSuffix(words))
        // Of NSGlobalDomain itself it is its own lock.
        #expect(
            await apply(free, "write -g Shared -int 1").contains(
                "line 2: The key 'Shared' of NSGlobalDomain is locked by the administrator, in "))
    }

    @Test func `delete-all reports a lock for all applications as write does`() async throws {
        for layer in [Self.app, "\(Self.app)@host"] {
            await session.tool("write", layer, "Shared", "-int", "1")
        }
        try await session.write(#"{"$locked": ["Sha*"]}"#, to: "NSGlobalDomain.json", in: .managed)
        let refused = await session.tool("delete-all", Self.app)
        #expect(refused.status == 1)
        #expect(refused.error.contains("is locked for all applications by the administrator"))
        #expect(await session.tool("delete", Self.app, "Shared").error == refused.error)
    }

    @Test func `An import in several changes is refused before the first`() async throws {
        try await session.write(#"{"$locked": ["Zlast"]}"#, to: "\(Self.app).json", in: .managed)
        let large = String(repeating: "x", count: 12 << 20)
        let values = ["A", "B", "C"].map { #""\#($0)": "\#(large)""# } + [#""Zlast": 1"#]
        let file = try session.directory.write("{\(values.joined(separator: ","))}", to: "large")
        let answer = await session.tool("import", Self.app, file)
        #expect(answer.status == 1 && answer.error.contains("Zlast"), "\(answer.error)")
        #expect(await session.tool("keys", Self.app).status == 1)
    }
}
