import Foundation
import TestSupport
import TestTiers
import Testing

/// `defaultsctl adopt dconf` and `release`, and both doors to dconf's file together.
@Suite(
    .startsPrograms, .serialized, .enabled(if: RealDconf.isAvailable, RealDconf.missing))
struct DconfAdoptionTests {
    /// Functions for scripts: `owner` prints the program that serves dconf's programs; `both` prints
    /// what a program of dconf and one of GSettings read.
    private static let functions = #"""
        set -u
        G=org.gnome.desktop.interface; P=/org/gnome/desktop/interface
        owner() {
            pid=$(gdbus call --session --dest org.freedesktop.DBus --object-path /org/freedesktop/DBus \
                --method org.freedesktop.DBus.GetConnectionUnixProcessID ca.desrt.dconf | tr -dc '0-9 ' |
                awk '{print $NF}')
            basename "$(readlink /proc/$pid/exe)"
        }
        fill() {
            gsettings set $G cursor-size 48; gsettings set $G color-scheme prefer-dark
            dconf write /other/program/u 'uint32 7'; dconf write /other/program/profiles:/:1/v '<(byte 1, {1: <2>})>'
        }
        view() { grep -q -a defaultsd $XDG_CONFIG_HOME/dconf/user; }
        until_read() { until [ "$(dconf read $1)" = "$2" ]; do sleep 0.02; done; }

        """#

    private let session: AdoptionSession

    init() throws {
        session = try AdoptionSession()
        try RealDconf.install(in: session)
    }

    private func run(_ script: String) throws -> [String] {
        let path = session.directory.path
        let result = session.run(
            Self.functions + script,
            adding: [
                "GIO_EXTRA_MODULES": path + "/modules", "GIO_MODULE_DIR": path + "/none",
                "XDG_DATA_DIRS": path + "/share:/usr/share",
            ])
        #expect(result.status == 0, "\(result)")
        return result.output.components(separatedBy: "----\n")
    }

    @Test func `All values are there, there and back, without a log-out`() throws {
        let parts = try run(
            """
            fill; dconf dump /; echo ----
            defaultsctl adopt dconf; echo ----
            dconf dump /; echo ----
            dconf write /other/program/u 'uint32 8'; owner; defaultsctl read other.program u
            dconf reset $P/color-scheme; defaultsctl write $G cursor-theme DMZ
            until_read $P/cursor-theme "'DMZ'"; view && echo view; echo ----
            defaultsctl doctor | grep "ok  dconf"; echo ----
            defaultsctl release dconf; view && echo view; echo ----
            dconf write $P/icon-theme "'X'"; owner; dconf dump /
            """)
        try #require(parts.count == 7, "\(parts)")
        #expect(
            parts[1] == "dconf: 4 values of 2 domains imported. Programs use defaultsd now.\n")
        #expect(parts[2] == parts[0])
        #expect(parts[3] == "defaultsd\n8\nview\n")
        #expect(parts[4].contains("Its programs use defaultsd."), "\(parts)")
        #expect(parts[5].contains("written back. Programs use dconf again."), "\(parts)")
        #expect(
            parts[6]
                == """
                dconf-service
                [org/gnome/desktop/interface]
                cursor-size=48
                cursor-theme='DMZ'
                icon-theme='X'

                [other/program]
                u=uint32 8

                [other/program/profiles:/:1]
                v=<(byte 0x01, {1: <2>})>

                """)
    }

    @Test func `A new session of an adopted user needs nothing else`() throws {
        let before = try run("fill; dconf dump /; echo ----; defaultsctl adopt dconf")[0]
        #expect(
            try run("dconf dump /; echo ----; dconf write /a 1; owner") == [before, "defaultsd\n"])
    }

    /// The doors can be used in any order.
    ///
    /// After each step a program of dconf and one of GSettings change a value, and both must see both.
    @Test(arguments: [
        "adopt gsettings;adopt dconf;release gsettings;release dconf",
        "adopt dconf;adopt gsettings;release dconf;release gsettings",
        "adopt dconf;adopt gsettings;release gsettings;adopt gsettings;release dconf;release gsettings",
        "adopt gsettings;adopt dconf;release dconf;adopt dconf;release gsettings;release dconf",
        "adopt gsettings dconf;release gsettings dconf;adopt gsettings dconf;adopt gsettings dconf",
        "adopt dconf;release dconf;adopt gsettings;release gsettings;adopt dconf;adopt dconf",
    ])
    func `Both doors can be adopted and released in any order`(steps: String) throws {
        let isShared = { (gsettings: Bool, dconf: Bool) in gsettings == dconf || !gsettings }
        var (gsettings, dconf) = (false, false)
        var script = "fill\n"
        for (number, step) in steps.split(separator: ";").enumerated() {
            let isAdopted = step.hasPrefix("adopt")
            if step.contains("gsettings") { gsettings = isAdopted }
            if step.contains("dconf") { dconf = isAdopted }
            script += """
                defaultsctl \(step) > out 2>&1 || cat out
                gsettings set $G cursor-size \(number); dconf write /other/program/u 'uint32 \(number)'
                dconf write $P/gtk-theme "'T\(number)'"

                """
            if isShared(gsettings, dconf) {
                script += """
                    until_read $P/cursor-size \(number)
                    [ "$(gsettings get $G cursor-size)" = \(number) ] || echo "gsettings lost at \(number)"
                    [ "$(gsettings get $G gtk-theme)" = "'T\(number)'" ] || echo "theme lost at \(number)"

                    """
            } else {
                script += "defaultsctl adopt gsettings > /dev/null\n"
            }
            script += """
                [ "$(dconf read /other/program/u)" = 'uint32 \(number)' ] || echo "dconf lost at \(number)"
                [ "$(gsettings get $G cursor-size)" = \(number) ] || echo "size lost at \(number)"
                [ "$(gsettings get $G color-scheme)" = "'prefer-dark'" ] || echo "scheme lost at \(number)"
                [ "$(dconf read /other/program/profiles:/:1/v)" = '<(byte 0x01, {1: <2>})>' ] || echo "v lost"

                """
        }
        #expect(try run(script) == [""])
    }

    @Test func `A file that is missing while dconf is adopted removes nothing`() throws {
        let check = """
            defaultsctl read other.program u; defaultsctl read $G cursor-size

            """
        let parts = try run(
            """
            fill; dconf dump / > before; defaultsctl adopt dconf > /dev/null
            rm $XDG_CONFIG_HOME/dconf/user; defaultsctl adopt dconf > /dev/null
            \(check)rm -f $XDG_CONFIG_HOME/dconf/user; defaultsctl adopt gsettings > /dev/null
            \(check)rm -f $XDG_CONFIG_HOME/dconf/user; defaultsctl release gsettings > /dev/null
            \(check)rm -f $XDG_CONFIG_HOME/dconf/user; defaultsctl release dconf > /dev/null
            \(check)dconf dump / | diff before -
            """)
        #expect(parts == [String(repeating: "7\n48\n", count: 4)])
    }

    @Test func `What dconf's own service stores before it is replaced is not lost`() throws {
        let parts = try run(
            """
            fill; defaultsctl adopt dconf > /dev/null; defaultsctl release dconf > /dev/null
            dconf write /other/program/u 'uint32 9'; dconf reset $P/color-scheme; owner
            defaultsctl write other.program late -int 1
            defaultsctl adopt dconf > /dev/null
            dconf write /x 1; owner
            dconf read /other/program/u; dconf read $P/color-scheme; dconf read /other/program/late
            defaultsctl read other.program u
            """)
        #expect(parts == ["dconf-service\ndefaultsd\nuint32 9\n1\n9\n"])
    }

    @Test func `A command that is killed at any moment loses nothing, and can be repeated`() throws
    {
        let parts = try run(
            """
            fill; dconf dump / | tee before; echo ----
            for step in $(seq 1 10); do
                timeout --signal=KILL 0.0$((step * 8 / 10))$((step * 8 % 10)) defaultsctl adopt dconf > /dev/null 2>&1
                dconf write /other/program/u "uint32 $step"
                defaultsctl adopt dconf > /dev/null || echo failed
                until_read /other/program/u "uint32 $step"
                dconf write $P/cursor-size $step
                timeout --signal=KILL 0.0$((step * 8 / 10))$((step * 8 % 10)) defaultsctl release dconf > /dev/null 2>&1
                dconf write /other/program/u "uint32 10$step"
                defaultsctl release dconf > /dev/null || echo failed
                [ "$(dconf read $P/cursor-size)" = $step ] || echo "lost on the way back at $step"
                [ "$(dconf read /other/program/u)" = "uint32 10$step" ] || echo "late one lost at $step"
                dconf write $P/cursor-size 48; dconf write /other/program/u 'uint32 7'
            done
            echo ----; dconf dump /
            """)
        #expect(parts.count == 3 && parts[1].isEmpty, "\(parts)")
        #expect(parts.last == parts.first)
    }
}
