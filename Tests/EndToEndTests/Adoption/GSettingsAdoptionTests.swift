import Foundation
import TestSupport
import TestTiers
import Testing

/// `defaultsctl adopt gsettings` and `release`, beside the real dconf.
@Suite(
    .startsPrograms, .serialized, .enabled(if: RealDconf.isAvailable, RealDconf.missing))
struct GSettingsAdoptionTests {
    private static let functions = """
        set -u
        G=org.gnome.desktop.interface
        fill() {
            gsettings set $G color-scheme prefer-dark; gsettings set $G cursor-size 48
            gsettings set $G text-scaling-factor 1.5
            gsettings set org.gnome.desktop.input-sources sources "[('xkb','de'),('xkb','us+ä')]"
            dconf write /other/program/nothing '@mi nothing'; dconf write /other/program/u 'uint32 7'
            dconf write /other/program/profiles:/:1/v '<(byte 1, {1: <2>})>'
        }

        """

    private let session: AdoptionSession

    init() throws {
        session = try AdoptionSession()
        try RealDconf.install(in: session)
    }

    private func run(_ script: String, hasModule: Bool = true) throws -> [String] {
        let result = session.run(
            Self.functions + script,
            adding: [
                "GIO_EXTRA_MODULES": hasModule ? session.directory.path + "/modules" : "",
                "GIO_MODULE_DIR": session.directory.path + (hasModule ? "/none" : "/share"),
                "XDG_DATA_DIRS": session.directory.path + "/share:/usr/share",
            ])
        #expect(result.status == 0, "\(result)")
        return result.output.components(separatedBy: "----\n")
    }

    @Test func `All values are there, with their types, there and back`() throws {
        let parts = try run(
            """
            fill; dconf dump /; echo ----
            defaultsctl adopt gsettings; echo ----
            gsettings get $G color-scheme; gsettings get $G cursor-size
            gsettings get org.gnome.desktop.input-sources sources
            defaultsctl read $G --json; defaultsctl read other.program u --json; echo ----
            defaultsctl release gsettings; echo ----
            dconf dump /
            """)
        try #require(parts.count == 5, "\(parts)")
        #expect(
            parts[1] == "gsettings: 7 values of 3 domains imported. Programs use defaultsd now.\n")
        #expect(
            parts[2]
                == """
                'prefer-dark'
                48
                [('xkb', 'de'), ('xkb', 'us+ä')]
                {"color-scheme":"prefer-dark","cursor-size":48,"text-scaling-factor":1.5}
                {"$class":"GVariant","type":"u","value":7}

                """)
        #expect(
            parts[3] == "gsettings: 7 values of 3 domains written back. Programs use dconf again.\n"
        )
        #expect(parts[4] == parts[0])
    }

    @Test
    func
        `Changes while adopted are in dconf after the release, and dconf does not write over them`()
        throws
    {
        let parts = try run(
            """
            fill; defaultsctl adopt gsettings > /dev/null
            gsettings set $G cursor-size 32; gsettings reset $G color-scheme
            gsettings set org.gnome.desktop.peripherals.mouse left-handed true
            defaultsctl write $G cursor-theme DMZ
            defaultsctl release gsettings > /dev/null
            gsettings set $G icon-theme X
            dconf dump /org/gnome/desktop/
            """)
        #expect(
            parts[0]
                == """
                [input-sources]
                sources=[('xkb', 'de'), ('xkb', 'us+ä')]

                [interface]
                cursor-size=32
                cursor-theme='DMZ'
                icon-theme='X'
                text-scaling-factor=1.5

                [peripherals/mouse]
                left-handed=true

                """)
    }

    @Test func `What programs still store in dconf comes with the next run, and with the release`()
        throws
    {
        let parts = try run(
            """
            fill; defaultsctl adopt gsettings > /dev/null
            gsettings set $G cursor-size 32; dconf write /other/program/u 'uint32 8'
            defaultsctl adopt gsettings; defaultsctl read other.program u; gsettings get $G cursor-size; echo ----
            dconf write /other/program/u 'uint32 9'
            defaultsctl release gsettings > /dev/null; dconf read /other/program/u; gsettings get $G cursor-size
            """)
        #expect(parts == ["gsettings is adopted already.\n8\n32\n", "uint32 9\n32\n"])
    }

    @Test func `Programs that run are named`() throws {
        let parts = try run(
            """
            coproc monitor { exec gsettings monitor $G; }
            while ! grep -q libdconfsettings /proc/$monitor_PID/maps; do :; done
            defaultsctl adopt gsettings; defaultsctl doctor
            kill $monitor_PID
            """)
        #expect(parts[0].contains("These programs use dconf until they end:"), "\(parts)")
        #expect(
            parts[0].contains("These use dconf until they end:")
                && parts[0].contains("gsettings (process"),
            "\(parts)")
    }

    @Test func `A damaged database or a missing module stops the adoption`() throws {
        let damaged = try run(
            """
            fill; truncate -s 100 $XDG_CONFIG_HOME/dconf/user
            defaultsctl adopt gsettings 2>&1 && echo adopted; defaultsctl domains
            """)
        #expect(
            damaged[0].contains("dconf/user: ") && !damaged[0].contains("adopted\n"), "\(damaged)")
        let missing = try run(
            "defaultsctl adopt gsettings 2>&1 && echo adopted; ls $XDG_CONFIG_HOME/defaultsd",
            hasModule: false)
        #expect(missing[0].contains("libgsettingsdefaults.so") && !missing[0].contains("adopted\n"))
        #expect(!missing[0].contains("\ngsettings\n"))
    }

    @Test func `A command that is killed at any moment loses nothing, and can be repeated`() throws
    {
        let parts = try run(
            """
            fill; dconf dump / | tee before; echo ----
            for step in $(seq 1 14); do
                timeout --signal=KILL 0.0$((step * 6 / 10))$((step * 6 % 10)) defaultsctl adopt gsettings > /dev/null 2>&1
                defaultsctl adopt gsettings > /dev/null || echo failed
                [ "$(gsettings get $G cursor-size)" = 48 ] || echo "lost on the way there at $step"
                gsettings set $G cursor-size $step
                timeout --signal=KILL 0.0$((step * 6 / 10))$((step * 6 % 10)) defaultsctl release gsettings > /dev/null 2>&1
                defaultsctl release gsettings > /dev/null || echo failed
                [ "$(gsettings get $G cursor-size)" = $step ] || echo "lost on the way back at $step"
                gsettings set $G cursor-size 48
            done
            echo ----; dconf dump /
            """)
        #expect(parts.count == 3 && parts[1].isEmpty, "\(parts)")
        #expect(parts.last == parts.first)
    }
}
