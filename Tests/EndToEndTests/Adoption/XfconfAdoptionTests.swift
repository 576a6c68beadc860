import Foundation
import TestSupport
import TestTiers
import Testing

/// `defaultsctl adopt xfconf` and `release`, beside the real xfconfd.
@Suite(
    .startsPrograms, .serialized, .enabled(if: XfconfDesktop.isAvailable, XfconfDesktop.missing))
struct XfconfAdoptionTests {
    /// Functions for scripts: `list` prints all properties with their types, `owner` the program that
    /// serves them.
    private static let functions = #"""
        set -u
        list() {
            /usr/bin/python3 - <<'END'
        from gi.repository import Gio, GLib
        bus = Gio.bus_get_sync(Gio.BusType.SESSION)
        def call(method, signature="()", *arguments):
            return bus.call_sync("org.xfce.Xfconf", "/org/xfce/Xfconf", "org.xfce.Xfconf", method,
                GLib.Variant(signature, arguments), None, 0, -1, None)
        # xfconfd lists a channel when it has written its file.
        for channel in "a.b", "new", "xfwm4":
            try: properties = call("GetAllProperties", "(ss)", channel, "/").get_child_value(0)
            except GLib.Error: continue
            for entry in sorted(properties.get_child_value(i).print_(True) for i in range(properties.n_children())):
                print(channel, entry)
        END
        }
        owner() {
            pid=$(gdbus call --session --dest org.freedesktop.DBus --object-path /org/freedesktop/DBus \
                --method org.freedesktop.DBus.GetConnectionUnixProcessID org.xfce.Xfconf | tr -dc '0-9 ' |
                awk '{print $NF}')
            basename "$(readlink /proc/$pid/exe)"
        }
        fill() {
            xfconf-query -c xfwm4 -p /general/theme -n -t string -s 'Grey & "bird" <ä>'
            xfconf-query -c xfwm4 -p /general/count -n -t uint -s 7
            xfconf-query -c xfwm4 -p /general -n -t bool -s true
            xfconf-query -c a.b -p '/x/<Primary>y' -n -t double -s 1.5
            xfconf-query -c a.b -p /list -n -t string -s a -t int -s -4 -t uint -s 4
            xfconf-query -c a.b -p /empty -n -t string -s ''
        }

        """#

    private let session: AdoptionSession

    init() throws { session = try AdoptionSession() }

    private func run(_ script: String) throws -> [String] {
        let result = session.run(Self.functions + script)
        #expect(result.status == 0, "\(result)")
        return result.output.components(separatedBy: "----\n")
    }

    @Test func `All values are there, with their types, there and back, without a log-out`() throws
    {
        let parts = try run(
            """
            fill; list; echo ----
            defaultsctl adopt xfconf; echo ----
            list; echo ----
            owner; xfconf-query -c xfwm4 -p /general/theme -s Numix; xfconf-query -c a.b -p /list -r
            defaultsctl read xfconf.xfwm4 /general/theme; echo ----
            list; echo ----
            defaultsctl release xfconf; echo ----
            list; echo ----
            owner
            """)
        try #require(parts.count == 8, "\(parts)")
        #expect(parts[0].split(separator: "\n").count == 6)
        #expect(
            parts[1]
                == "xfconf: 6 values of 2 domains imported. Programs use defaultsd now.\n")
        #expect(parts[2] == parts[0])
        #expect(parts[3] == "defaultsd\nNumix\n")
        #expect(parts[4].split(separator: "\n").count == 5 && parts[4].contains("<'Numix'>"))
        #expect(
            parts[5]
                == "xfconf: 5 values of 2 domains written back. Programs use xfconfd again.\n"
        )
        #expect(parts[6] == parts[4])
        #expect(parts[7] == "xfconfd\n")
    }

    @Test func `A new session of an adopted user needs nothing else`() throws {
        let before = try run("fill; list; echo ----; defaultsctl adopt xfconf")[0]
        let parts = try run("list; echo ----; owner")
        #expect(parts == [before, "defaultsd\n"])
        #expect(
            try run("defaultsctl adopt xfconf; defaultsctl release xfconf; list; echo ----; owner")
                .last
                == "xfconfd\n")
        #expect(try run("list") == [before])
    }

    @Test func `When the programs are removed, the bus starts the other service again`() throws {
        let path = session.directory.path
        let installed = ProgramResult.run(
            [
                "make", "-C", Desktop.packageDirectory, "install", "PREFIX=\(path)/prefix",
            ], environment: ProcessInfo.processInfo.environment)
        #expect(installed.status == 0, "\(installed)")
        let search = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let result = session.run(
            Self.functions + """
                fill; defaultsctl adopt xfconf > /dev/null; owner
                cat $XDG_DATA_HOME/dbus-1/services/org.xfce.Xfconf.service
                daemon=$(head -n 1 $XDG_CONFIG_HOME/defaultsd/lock | cut -d ' ' -f 2)
                rm -r \(path)/prefix
                kill $daemon; tail --pid=$daemon --sleep-interval=0.05 --follow /dev/null
                gdbus call --session --dest org.freedesktop.DBus --object-path /org/freedesktop/DBus \
                    --method org.freedesktop.DBus.ReloadConfig > /dev/null
                xfconf-query -c xfwm4 -p /general/theme; owner
                """,
            adding: [
                "PATH": "\(path)/prefix/bin:\(search)",
                "XDG_DATA_DIRS": "\(path)/prefix/share:\(path)/share",
            ])
        #expect(
            result.output == """
                defaultsd
                [D-BUS Service]
                Name=org.xfce.Xfconf
                Exec=\(path)/prefix/bin/defaultsd --replace
                SystemdService=defaultsd.service
                Grey & "bird" <ä>
                xfconfd

                """, "\(result)")
    }

    @Test func `doctor sees who serves the programs of an adopted user`() throws {
        let parts = try run(
            """
            fill; defaultsctl doctor | grep -c xfconf: ; echo ----
            defaultsctl adopt xfconf > /dev/null; defaultsctl doctor | grep -A1 xfconf; echo ----
            rm $XDG_DATA_HOME/dbus-1/services/org.xfce.Xfconf.service
            defaultsctl doctor | grep -A1 xfconf; echo ----
            defaultsctl adopt xfconf; defaultsctl doctor | grep -A1 xfconf; list
            """)
        #expect(parts[0] == "0\n", "\(parts)")
        #expect(parts[1].contains("Its programs use defaultsd."), "\(parts)")
        #expect(parts[2].contains("was interrupted"), "\(parts)")
        #expect(parts[3].contains("Its programs use defaultsd."), "\(parts)")
        #expect(parts[3].contains("/general/count', <uint32 7>"), "\(parts)")
    }

    @Test func `A release removes an activation link that leads nowhere`() throws {
        let parts = try run(
            """
            link=$XDG_DATA_HOME/dbus-1/services/org.xfce.Xfconf.service
            mkdir -p ${link%/*}; ln -s /nonexistent/org.xfce.Xfconf.service $link
            defaultsctl release xfconf; echo ----
            test -L $link || echo removed
            """)
        #expect(!parts[0].contains("not adopted"), "\(parts)")
        #expect(parts[1] == "removed\n", "\(parts)")
    }

    @Test func `A release that ended before the daemon did is ended by the next one`() throws {
        let parts = try run(
            """
            fill; defaultsctl adopt xfconf > /dev/null; defaultsctl release xfconf > /dev/null
            list; echo ----
            defaultsctl adopt xfconf > /dev/null
            # The state after the mark is removed, with the daemon as it was.
            mv $XDG_CONFIG_HOME/defaultsd/xfconf $XDG_CONFIG_HOME/defaultsd/xfconf.released
            rm $XDG_DATA_HOME/dbus-1/services/org.xfce.Xfconf.service
            gdbus call --session --dest org.freedesktop.DBus --object-path /org/freedesktop/DBus \
                --method org.freedesktop.DBus.ReloadConfig > /dev/null
            xfconf-query -c xfwm4 -p /general/count -s 8; owner; defaultsctl release xfconf; echo ----
            list; echo ----; owner; defaultsctl release xfconf
            """)
        try #require(parts.count == 4, "\(parts)")
        #expect(
            parts[1].hasPrefix("defaultsd\nxfconf: ") && parts[1].contains("Programs use xfconfd"),
            "\(parts)")
        #expect(parts[2] == parts[0].replacing("uint32 7", with: "uint32 8"))
        #expect(parts[3] == "xfconfd\nxfconf is not adopted.\n")
    }

    @Test func `A dry run changes nothing and says what would be done`() throws {
        let parts = try run(
            """
            fill; defaultsctl adopt xfconf --dry-run; echo ----
            defaultsctl release xfconf --dry-run; owner; find $XDG_CONFIG_HOME/defaultsd $XDG_DATA_HOME -name '*xfconf*'
            """)
        #expect(
            parts[0].hasPrefix("xfconf: ") && parts[0].contains("would be imported"), "\(parts)")
        #expect(parts[1] == "xfconf is not adopted.\nxfconfd\n")
    }

    @Test
    func
        `A reset while adopted is kept by the release, and a second adoption imports later changes`()
        throws
    {
        let parts = try run(
            """
            fill; defaultsctl adopt xfconf >/dev/null; xfconf-query -c a.b -p / -r -R; defaultsctl release xfconf > /dev/null
            list; echo ----
            xfconf-query -c xfwm4 -p /general/count -r; xfconf-query -c new -p /k -n -t bool -s true
            list; echo ----
            defaultsctl adopt xfconf > /dev/null; list
            """)
        #expect(!parts[0].contains("a.b") && parts[0].contains("xfwm4"))
        #expect(parts[1].contains("new") && !parts[1].contains("count"))
        #expect(parts[2] == parts[1])
    }

    @Test func `A file that cannot be read stops the adoption, and nothing is changed`() throws {
        let parts = try run(
            """
            fill
            mkdir -p $XDG_CONFIG_HOME/xfce4/xfconf/xfce-perchannel-xml
            echo '<channel name="bad"' > $XDG_CONFIG_HOME/xfce4/xfconf/xfce-perchannel-xml/bad.xml
            defaultsctl adopt xfconf 2>&1 && echo adopted; echo ----
            xfconf-query -l > /dev/null; owner; defaultsctl domains
            """)
        #expect(parts[0].contains("bad.xml:") && !parts[0].contains("adopted\n"), "\(parts)")
        #expect(parts[1].hasPrefix("xfconfd\n") && !parts[1].contains("xfconf."), "\(parts)")
    }

    /// Whatever the moment of a kill, the next run comes to the same end.
    @Test func `A command that is killed at any moment loses nothing, and can be repeated`() throws
    {
        let parts = try run(
            """
            fill; list; echo ----
            for step in $(seq 1 14); do
                timeout --signal=KILL 0.0$((step * 6 / 10))$((step * 6 % 10)) defaultsctl adopt xfconf > /dev/null 2>&1
                defaultsctl adopt xfconf > /dev/null || echo failed
                [ "$(owner)" = defaultsd ] || echo "not adopted at $step"
                list > now; list | cmp - now
                xfconf-query -c xfwm4 -p /general/count -s $step
                timeout --signal=KILL 0.0$((step * 6 / 10))$((step * 6 % 10)) defaultsctl release xfconf > /dev/null 2>&1
                defaultsctl release xfconf > /dev/null || echo failed
                [ "$(xfconf-query -c xfwm4 -p /general/count)" = $step ] || echo "lost at $step"
                [ "$(owner)" = xfconfd ] || echo "not released at $step"
            done
            xfconf-query -c xfwm4 -p /general/count -s 7
            echo ----; list
            """)
        #expect(parts.count == 3 && parts[1].isEmpty, "\(parts)")
        #expect(parts.last == parts.first)
    }
}
