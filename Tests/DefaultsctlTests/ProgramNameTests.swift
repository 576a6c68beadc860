import DomainForms
import Testing

@testable import defaultsctl

@Suite("The name of the program") struct ProgramNameTests {
    @Test("is that of the file by which it was called")
    func names() {
        #expect(ProgramName(ofPath: "/home/a/bin/defaults") == .defaults)
        #expect(ProgramName(ofPath: "defaults") == .defaults)
        #expect(ProgramName(ofPath: "/usr/bin/defaultsctl") == .defaultsctl)
        #expect(ProgramName(ofPath: "") == .defaultsctl)
    }

    @Test("decides whether a missing key is reported in our words or in those of macOS")
    func messages() {
        let error = ToolError.noPair("NSGlobalDomain@host", "k", meant: "K")
        #expect(
            error.text(as: .defaultsctl) == "defaultsctl: The domain/default pair of "
                + "(NSGlobalDomain@host, k) does not exist. Did you mean 'K'?\n")
        let text = error.text(as: .defaults)
        #expect(text.contains(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} defaults\[\d+:\d+\] \n/))
        #expect(
            text.hasSuffix(
                "\nThe domain/default pair of (kCFPreferencesAnyApplication, k) does not exist\n"))
        #expect(ToolError.noBackup("x").text(as: .defaults).hasPrefix("defaultsctl: "))
    }

    @Test("and the file decide the form of an export")
    func forms() {
        #expect(Export.form(of: "-", as: .defaultsctl) == .xml)
        #expect(Export.form(of: "a/x.json", as: .defaultsctl) == .json)
        #expect(Export.form(of: "x.JSON", as: .defaultsctl) == .json)
        #expect(Export.form(of: "x.xml", as: .defaultsctl) == .xml)
        #expect(Export.form(of: "x.plist", as: .defaultsctl) == .binary)
        #expect(Export.form(of: "dir.json/x", as: .defaultsctl) == .binary)
        #expect(Export.form(of: "json", as: .defaultsctl) == .binary)
        #expect(Export.form(of: "x.json", as: .defaults) == .binary)
    }
}
