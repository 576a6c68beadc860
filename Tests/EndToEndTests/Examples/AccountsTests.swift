import TestSupport
import Testing

/// The program of accounts, run as often as it takes, each time in a process of its own.
@Suite(.serialized) struct AccountsTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    @Test func `There are no accounts at the first start`() throws {
        #expect(try desktop.example("Accounts").requireOutput() == "")
        #expect(try desktop.example("Accounts").requireOutput() == "")
    }

    @Test func `What one process adds the next one has`() throws {
        try desktop.example("Accounts", "add", "work", "ada").requireOutput()
        try desktop.example("Accounts", "add", "home", "countess").requireOutput()
        try desktop.example("Accounts", "add", "work", "ada.king").requireOutput()
        #expect(
            try desktop.example("Accounts").requireOutput() == "home: countess\nwork: ada.king\n")
        try desktop.example("Accounts", "remove", "home").requireOutput()
        #expect(try desktop.example("Accounts").requireOutput() == "work: ada.king\n")
    }

    @Test func `Accounts are objects to everybody else`() throws {
        try desktop.example("Accounts", "add", "work", "ada").requireOutput()
        #expect(
            try desktop.tool("read", "org.example.Accounts", "Accounts", "--json").requireOutput()
                == #"{"work":{"$class":"Account","username":"ada"}}"# + "\n")
        desktop.call(
            "SetValue", "org.example.Accounts", "Accounts",
            "<{'home': <{'$class': <'Account'>, 'username': <'bob'>}>}>")
        #expect(try desktop.example("Accounts").requireOutput() == "home: bob\n")
    }

    @Test func `Accounts survive the daemon and the program`() throws {
        try desktop.example("Accounts", "add", "work", "ada").requireOutput()
        try desktop.killDaemon(9)
        #expect(try desktop.example("Accounts").requireOutput() == "work: ada\n")
    }
}
