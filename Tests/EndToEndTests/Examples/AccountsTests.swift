import Foundation
import TestSupport
import TestTiers
import Testing

/// The program of accounts.
///
/// Each run is a process of its own.
@Suite(.startsPrograms, .serialized) struct AccountsTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    @Test func `There are no accounts at the first start`() throws {
        #expect(try desktop.example("Accounts").requireOutput() == "")
        #expect(try desktop.example("Accounts").requireOutput() == "")
    }

    @Test func `Values that one process adds are in the next one`() throws {
        try desktop.example("Accounts", "add", "work", "ada").requireOutput()
        try desktop.example("Accounts", "add", "home", "countess").requireOutput()
        try desktop.example("Accounts", "add", "work", "ada.king").requireOutput()
        #expect(
            try desktop.example("Accounts").requireOutput() == "home: countess\nwork: ada.king\n")
        try desktop.example("Accounts", "remove", "home").requireOutput()
        #expect(try desktop.example("Accounts").requireOutput() == "work: ada.king\n")
    }

    @Test func `Accounts are objects for other programs`() throws {
        try desktop.example("Accounts", "add", "work", "ada").requireOutput()
        #expect(
            try desktop.tool("read", "org.example.Accounts", "Accounts", "--json").requireOutput()
                == #"{"work":{"$class":"Account","username":"ada"}}"# + "\n")
        desktop.call(
            "SetValue", "org.example.Accounts", "Accounts",
            "<{'home': <{'$class': <'Account'>, 'username': <'bob'>}>}>")
        #expect(try desktop.example("Accounts").requireOutput() == "home: bob\n")
    }

    @Test(arguments: [["", "ada"], [" \t", "ada"], ["work", ""], ["work", "\n"]])
    func `An empty name or username is refused with a sentence`(_ words: [String]) throws {
        let result = desktop.example("Accounts", "add", words[0], words[1])
        #expect(result.status == 1)
        #expect(result.error.contains("is empty. Enter a "))
        #expect(try desktop.example("Accounts").requireOutput() == "")
    }

    @Test func `Removing a missing account is an error`() throws {
        try desktop.example("Accounts", "add", "work", "ada").requireOutput()
        let result = desktop.example("Accounts", "remove", "home")
        #expect(result.status == 1)
        #expect(result.error.hasPrefix("Accounts: There is no account \"home\"."))
        #expect(try desktop.example("Accounts").requireOutput() == "work: ada\n")
    }

    @Test(.enabled(if: Tutorials.canRun, "gobjc and libgnustep-base-dev are not installed"))
    func `The accounts of a program with GNUstep are read, a dictionary or a list`() throws {
        let tutorials = try Tutorials.shared.get()
        try desktop.store(tutorials.file("accounts"), in: "org.example.Accounts", "Accounts")
        #expect(try desktop.example("Accounts").requireOutput() == "home: bob\nwork: ada\n")
        try desktop.store(tutorials.file("account-list"), in: "org.example.Accounts", "Accounts")
        #expect(try desktop.example("Accounts").requireOutput() == "ada: ada\nbob: bob\n")
        // It is a dictionary after the first change.
        try desktop.example("Accounts", "remove", "bob").requireOutput()
        #expect(try desktop.example("Accounts").requireOutput() == "ada: ada\n")
        let stored = try desktop.storedArchive(in: "org.example.Accounts", "Accounts")
        #expect(try tutorials.read(stored).contains("Account(ada)"))
    }

    @Test(.enabled(if: Tutorials.canRun, "gobjc and libgnustep-base-dev are not installed"))
    func `Accounts are read from the data that UserDefaults had, and become objects`() throws {
        let tutorials = try Tutorials.shared.get()
        let archive = try Data(contentsOf: URL(filePath: tutorials.file("accounts")))
        let file = try desktop.directory.write(
            #"{"Accounts":{"$data":"\#(archive.base64EncodedString())"}}"#, to: "old.json")
        try desktop.tool("import", "org.example.Accounts", file).requireOutput()
        #expect(try desktop.example("Accounts").requireOutput() == "home: bob\nwork: ada\n")
        try desktop.example("Accounts", "remove", "home").requireOutput()
        #expect(
            try desktop.tool("read", "org.example.Accounts", "Accounts", "--json").requireOutput()
                == #"{"work":{"$class":"Account","username":"ada"}}"# + "\n")
    }

    @Test(.enabled(if: Tutorials.canRun, "gobjc and libgnustep-base-dev are not installed"))
    func `The file data.bin of a program with GNUstep is loaded, and saved for it`() throws {
        let tutorials = try Tutorials.shared.get()
        try desktop.example("Accounts", "load", tutorials.file("data.bin")).requireOutput()
        #expect(try desktop.example("Accounts").requireOutput() == "home: bob\nwork: ada\n")
        let file = desktop.directory.path + "/data.bin"
        try desktop.example("Accounts", "save", file).requireOutput()
        #expect(try tutorials.add(to: file) == "Account(bob)\nAccount(grace)\nAccount(ada)\n")
        try desktop.example("Accounts", "load", tutorials.file("list-data.xml")).requireOutput()
        #expect(try desktop.example("Accounts").requireOutput() == "ada: ada\nbob: bob\n")
        // The bytes of the file are also read where they are stored.
        try desktop.store(file, in: "org.example.Accounts", "Accounts")
        #expect(try desktop.example("Accounts").requireOutput() == "home: bob\nwork: ada\n")
    }

    @Test(.enabled(if: Tutorials.canRun, "gobjc and libgnustep-base-dev are not installed"))
    func `A file without accounts is an error, and the accounts stay`() throws {
        let tutorials = try Tutorials.shared.get()
        try desktop.example("Accounts", "add", "work", "ada").requireOutput()
        for name in ["empty-list", "empty-dictionary"] {
            let file = tutorials.file(name)
            let result = desktop.example("Accounts", "load", file)
            #expect(result.status == 1)
            #expect(
                result.error
                    == "Accounts: The file \"\(file)\" has no accounts. Nothing was changed.\n")
        }
        for name in ["titles", "books", "options"] {
            let file = tutorials.file(name)
            let result = desktop.example("Accounts", "load", file)
            #expect(result.status == 1)
            let sentence =
                "Accounts: The file \"\(file)\" is not a dictionary or a list of accounts. "
            #expect(result.error.hasPrefix(sentence), "\(result)")
        }
        #expect(try desktop.example("Accounts").requireOutput() == "work: ada\n")
    }

    @Test func `Accounts survive the daemon and the program`() throws {
        try desktop.example("Accounts", "add", "work", "ada").requireOutput()
        try desktop.killDaemon(9)
        #expect(try desktop.example("Accounts").requireOutput() == "work: ada\n")
    }
}
