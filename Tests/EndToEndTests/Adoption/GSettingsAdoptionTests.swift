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

    /// A schema as a program has it in a directory of its own, without an installed one anywhere near its
    /// path.
    private static let privateSchema = """
        mkdir -p schemas; cat > schemas/a.gschema.xml <<END
        <schemalist><schema id="com.example.Term">
        <key name="ad" type="ad"><default>[]</default></key><key name="ai" type="ai"><default>[]</default></key>
        <key name="u" type="u"><default>1</default></key><key name="pair" type="(ii)"><default>(0, 0)</default></key>
        <key name="pairs" type="a(ss)"><default>[]</default></key><key name="ms" type="ms"><default>nothing</default></key>
        <key name="x" type="x"><default>0</default></key><key name="v" type="v"><default><![CDATA[<0>]]></default></key>
        <key name="d" type="d"><default>0</default></key><key name="b" type="b"><default>false</default></key>
        <key name="map" type="a{sv}"><default>{}</default></key><key name="av" type="av"><default>[]</default></key>
        </schema></schemalist>
        END
        glib-compile-schemas schemas
        S="com.example.Term:/com/example/term/profiles:/:1/"; K="ad ai u pair pairs ms x v d b map av"
        settings() { GSETTINGS_SCHEMA_DIR=$HOME/schemas gsettings "$@"; }
        values() { for key in $K; do settings get $S $key; done; }
        set_all() {
            settings set $S ad '[1.5, 2]'; settings set $S ai '[1]'; settings set $S u 300
            settings set $S pair '(1, 2)'; settings set $S pairs "[('a', 'b')]"; settings set $S ms "'x'"
            settings set $S x 5; settings set $S v '<uint32 5>'; settings set $S d 2; settings set $S b true
            settings set $S map "{'a': <int64 1>}"; settings set $S av "[<'a'>]"
        }

        """

    @Test(arguments: ["gsettings", "gsettings dconf"])
    func `Settings of a schema in a private directory are not lost by the release`(
        doors: String
    ) throws {
        let parts = try run(
            Self.privateSchema + """
                dconf write /com/example/other/a "[('a', 'b')]"
                defaultsctl adopt \(doors) > /dev/null
                set_all; values; echo ----
                defaultsctl release gsettings > /dev/null; values; echo ----
                defaultsctl release \(doors) > /dev/null; values; echo ----
                dconf read /com/example/other/a
                """)
        try #require(parts.count == 4, "\(parts)")
        #expect(parts[0].hasPrefix("[1.5, 2.0]\n[1]\nuint32 300\n(1, 2)\n"), "\(parts)")
        #expect(parts[1] == parts[0] && parts[2] == parts[0], "\(parts)")
        #expect(parts[3] == "[('a', 'b')]\n")
    }

    @Test func `Types of settings stay when their schema is removed and other programs set them`()
        throws
    {
        let parts = try run(
            Self.privateSchema + """
                defaultsctl adopt gsettings > /dev/null
                set_all
                defaultsctl write com.example.term profiles:/:1/u -int 400
                gdbus call --session -d org.defaultsd.Defaults1 -o /org/defaultsd/Defaults1 -m \
                    org.defaultsd.Defaults1.SetValue com.example.term profiles:/:1/ai '<[1, 2]>' > /dev/null
                gdbus call --session -d org.defaultsd.Defaults1 -o /org/defaultsd/Defaults1 -m \
                    org.defaultsd.Defaults1.SetValue com.example.term profiles:/:1/d '<3>' > /dev/null
                mv schemas gone
                defaultsctl release gsettings > /dev/null; dconf dump /com/example/term/
                """)
        #expect(
            parts[0] == """
                [profiles:/:1]
                ad=[1.5, 2.0]
                ai=[1, 2]
                av=[<'a'>]
                b=true
                d=3.0
                map={'a': <int64 1>}
                ms=@ms 'x'
                pair=(1, 2)
                pairs=[('a', 'b')]
                u=uint32 400
                v=<uint32 5>
                x=int64 5

                """)
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

    @Test(.enabled(if: !AdoptionSession.apart.isEmpty, "unshare cannot hide other processes here"))
    func `Programs outside of the session have no part in a test`() throws {
        let library = try session.directory.write("", to: "libdconfsettings.so")
        // It has the file in its memory, as a program has a library.
        let stranger = try ChildProcess(
            [
                "/usr/bin/python3", "-c",
                """
                import mmap, sys
                with open(sys.argv[1], "r+b") as file:
                    file.truncate(1)
                    mapped = mmap.mmap(file.fileno(), 1)
                print("ready", flush=True)
                sys.stdin.read()
                """, library,
            ], input: .pipe, output: .lines)
        #expect(stranger.lines?.next() == "ready")
        let parts = try run("defaultsctl adopt gsettings")
        #expect(!parts[0].contains("python3"), "\(parts)")
        #expect(parts[0].hasSuffix(" Programs use defaultsd now.\n"), "\(parts)")
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
