import Foundation
import TestSupport
import TestTiers
import Testing

/// `make install` and `make uninstall`.
@Suite(.startsPrograms, .serialized) struct InstallationTests {
    @Test(arguments: ["/usr", "/opt/defaultsd"])
    func `A manual page names the paths of this installation`(prefix: String) throws {
        let desktop = try Desktop()
        let root = desktop.directory.path + "/root"
        let make = [
            "make", "-C", Desktop.packageDirectory, "PREFIX=\(prefix)", "DESTDIR=\(root)",
        ]
        _ = try desktop.run(make + ["install"]).requireOutput()
        var named: Set<String> = []
        for page in ["man5/org.defaultsd.Defaults1.5", "man8/defaultsd.8"] {
            let text = try String(
                contentsOfFile: "\(root)\(prefix)/share/man/\(page)", encoding: .utf8)
            #expect(text.firstMatch(of: /@[A-Z]+@/) == nil, "\(page)")
            named.formUnion(
                text.matches(of: /\.It Pa (\/.*(?:\.xml|\.service))\n/).map { String($0.1) })
        }
        #expect(named.count == 3)
        for path in named {
            #expect(FileManager.default.fileExists(atPath: root + path), "\(path)")
        }
    }

    @Test
    func `make install installs what the systems look for, and uninstall leaves no file`() throws {
        let desktop = try Desktop()
        let root = desktop.directory.path + "/root"
        let make = ["make", "-C", Desktop.packageDirectory, "PREFIX=/usr", "DESTDIR=\(root)"]
        _ = try desktop.run(make + ["install"]).requireOutput()
        let files = try desktop.run("find", root, "-type", "f", "-printf", "%m /%P\\n")
            .requireOutput().split(separator: "\n").sorted()
        // The folder has the name of the machine's kind.
        let modules = try desktop.run("pkg-config", "--variable=giomoduledir", "gio-2.0")
            .requireOutput().trimmingCharacters(in: .newlines)
        #expect(files.contains("644 \(modules)/libgsettingsdefaults.so"))
        #expect(
            files.filter { !$0.hasSuffix(".so") } == [
                "644 /usr/include/defaults.h",
                "644 /usr/lib/libdefaults.so.1",
                "644 /usr/lib/pkgconfig/defaults.pc",
                "644 /usr/lib/systemd/catalog/defaultsd.catalog",
                "644 /usr/lib/systemd/user/defaultsd-roam.service",
                "644 /usr/lib/systemd/user/defaultsd.service",
                "644 /usr/lib/systemd/user/defaultsd.socket",
                "644 /usr/share/bash-completion/completions/defaultsctl",
                "644 /usr/share/dbus-1/adopted-services/ca.desrt.dconf.service",
                "644 /usr/share/dbus-1/adopted-services/org.freedesktop.impl.portal.desktop.defaultsd.service",
                "644 /usr/share/dbus-1/adopted-services/org.xfce.Xfconf.service",
                "644 /usr/share/dbus-1/interfaces/org.defaultsd.Defaults1.xml",
                "644 /usr/share/dbus-1/services/org.defaultsd.Defaults1.service",
                "644 /usr/share/dbus-1/services/org.defaultsd.Roam1.service",
                "644 /usr/share/fish/vendor_completions.d/defaultsctl.fish",
                "644 /usr/share/man/man1/defaultsctl.1",
                "644 /usr/share/man/man3/defaults_begin.3",
                "644 /usr/share/man/man3/defaults_get.3",
                "644 /usr/share/man/man3/defaults_history.3",
                "644 /usr/share/man/man3/defaults_last_error.3",
                "644 /usr/share/man/man3/defaults_open.3",
                "644 /usr/share/man/man3/defaults_set.3",
                "644 /usr/share/man/man3/defaults_watch.3",
                "644 /usr/share/man/man3/libdefaults.3",
                "644 /usr/share/man/man5/defaultsd-managed.5",
                "644 /usr/share/man/man5/defaultsd-values.5",
                "644 /usr/share/man/man5/org.defaultsd.Defaults1.5",
                "644 /usr/share/man/man8/defaultsd-roam.8",
                "644 /usr/share/man/man8/defaultsd.8",
                "644 /usr/share/xdg-desktop-portal/portals/defaultsd.portal",
                "644 \(try zshFolder(below: "/usr", desktop))/_defaultsctl",
                "755 /usr/bin/defaultsctl",
                "755 /usr/bin/defaultsd",
                "755 /usr/bin/defaultsd-roam",
            ])
        let links = try desktop.run("find", root, "-type", "l", "-printf", "/%P %l\\n")
            .requireOutput().split(separator: "\n").sorted()
        #expect(
            links == [
                "/usr/lib/libdefaults.so libdefaults.so.1",
                "/usr/lib/systemd/user/sockets.target.wants/defaultsd.socket ../defaultsd.socket",
                "/usr/share/bash-completion/completions/defaults defaultsctl",
                "/usr/share/fish/vendor_completions.d/defaults.fish defaultsctl.fish",
            ])
        for file in [
            "lib/systemd/user/defaultsd.service",
            "share/dbus-1/services/org.defaultsd.Defaults1.service",
        ] {
            let text = try String(contentsOfFile: "\(root)/usr/\(file)", encoding: .utf8)
            #expect(text.contains("=/usr/bin/defaultsd\n") && !text.contains("@BINDIR@"))
        }
        try checkLibrary(in: root, desktop)
        for program in ["defaultsctl", "defaultsd", "defaultsd-roam"] {
            let installed = "\(root)/usr/bin/\(program)"
            let sections = try desktop.run("readelf", "--sections", "--wide", installed)
                .requireOutput()
            #expect(!sections.contains(".symtab") && !sections.contains(".debug_"), "\(program)")
            #expect(desktop.run(installed, "--version").status == 0)
        }
        let unit = "\(root)/usr/lib/systemd/user/defaultsd.service"
        let verified = desktop.run(
            "sed", "-i", "s|/usr/bin/defaultsd|\(Desktop.programs)/defaultsd|", unit)
        #expect(verified.status == 0)
        let verify = desktop.run("systemd-analyze", "--user", "--man=no", "verify", unit)
        #expect(!(verify.output + verify.error).contains("defaultsd.service"), "\(verify.error)")
        _ = try desktop.run(make + ["uninstall"]).requireOutput()
        #expect(try desktop.run("find", root, "-not", "-type", "d").requireOutput() == "")
    }

    /// Where the zsh of this system looks for completions below a prefix, if nobody tells it.
    private func zshFolder(below prefix: String, _ desktop: Desktop) throws -> String {
        let folders = try desktop.run("zsh", "-f", "-c", "print -l $fpath").requireOutput()
            .split(separator: "\n").map(String.init)
        return try #require(
            ["vendor-completions", "site-functions"].map { "\(prefix)/share/zsh/\($0)" }
                .first(where: folders.contains))
    }

    @Test(arguments: ["/usr", "/usr/local"])
    func `The shells of this system find the completions where they look by themselves`(
        prefix: String
    ) throws {
        let desktop = try Desktop()
        let root = desktop.directory.path + "/root"
        try desktop.run(
            "make", "-C", Desktop.packageDirectory, "PREFIX=\(prefix)", "DESTDIR=\(root)", "install"
        ).requireOutput()
        func expect(_ file: String) {
            #expect(FileManager.default.fileExists(atPath: root + file), "\(file)")
        }
        expect(try zshFolder(below: prefix, desktop) + "/_defaultsctl")
        // fish looks below /usr/local only where sessions of desktops have named it.
        let variable =
            prefix == "/usr" ? ["-u", "XDG_DATA_DIRS"] : ["XDG_DATA_DIRS=\(prefix)/share"]
        let fish = try desktop.run(
            ["env"] + variable + ["fish", "-c", "string join \\n $fish_complete_path"]
        ).requireOutput()
        let folder = "\(prefix)/share/fish/vendor_completions.d"
        #expect(fish.split(separator: "\n").contains { $0 == folder }, "\(fish)")
        expect("\(folder)/defaultsctl.fish")
        expect("\(folder)/defaults.fish")
        // bash-completion has no list to ask: it looks below each of XDG_DATA_DIRS, and these are its
        // defaults.
        expect("\(prefix)/share/bash-completion/completions/defaultsctl")
        expect("\(prefix)/share/bash-completion/completions/defaults")
    }

    /// A program is compiled and run with what pkg-config says of the installed library.
    private func checkLibrary(in root: String, _ desktop: Desktop) throws {
        let file = "\(root)/usr/lib/pkgconfig/defaults.pc"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let version = try desktop.tool("--version").requireOutput()
        #expect(text.firstMatch(of: /@[A-Z]+@/) == nil)
        #expect(text.contains("Version: \(version)"))
        let source = desktop.directory.path + "/version.c"
        let lines = [
            "#include <defaults.h>", "#include <stdio.h>",
            "int main(void) { puts(defaults_version()); }\n",
        ]
        try lines.joined(separator: "\n").write(
            toFile: source, atomically: true, encoding: .utf8)
        let program = desktop.directory.path + "/version"
        let compiled = desktop.run(
            "sh", "-c",
            """
            export PKG_CONFIG_PATH='\(root)/usr/lib/pkgconfig' PKG_CONFIG_SYSROOT_DIR='\(root)'
            export PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1
            cc '\(source)' -o '\(program)' $(pkg-config --cflags --libs defaults) &&
            LD_LIBRARY_PATH='\(root)/usr/lib' '\(program)'
            """)
        #expect(compiled.output == version, "\(compiled)")
    }

    @Test func `make install HARDENED=1 adds the drop-in and the unit that it needs`() throws {
        let desktop = try Desktop()
        let root = desktop.directory.path + "/root"
        let make = ["make", "-C", Desktop.packageDirectory, "PREFIX=/usr", "DESTDIR=\(root)"]
        _ = try desktop.run(make + ["install", "HARDENED=1"]).requireOutput()
        let units = "\(root)/usr/lib/systemd/user"
        let files = try desktop.run("find", units, "-type", "f", "-printf", "%m %P\\n")
            .requireOutput().split(separator: "\n").sorted()
        #expect(
            files == [
                "644 defaultsd-helper.socket", "644 defaultsd-helper@.service",
                "644 defaultsd-roam.service", "644 defaultsd.service",
                "644 defaultsd.service.d/hardened.conf",
                "644 defaultsd.socket",
            ])
        let helper = try String(
            contentsOfFile: "\(units)/defaultsd-helper@.service", encoding: .utf8)
        #expect(helper.contains("=/usr/bin/defaultsd --helper\n"))
        _ = try desktop.run(make + ["uninstall"]).requireOutput()
        #expect(try desktop.run("find", root, "-not", "-type", "d").requireOutput() == "")
    }
}
