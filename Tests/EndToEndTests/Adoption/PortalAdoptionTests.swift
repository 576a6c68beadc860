import Foundation
import TestSupport
import TestTiers
import Testing

/// The real xdg-desktop-portal, which programs call.
private enum FrontEnd {
    static let service = "/usr/share/dbus-1/services/org.freedesktop.portal.Desktop.service"
    static let isAvailable = FileManager.default.fileExists(atPath: service)
    static let missing = Comment(
        "xdg-desktop-portal is missing: apt-get install xdg-desktop-portal")
}

/// `defaultsctl adopt portal` and `release`, beside the real xdg-desktop-portal and another backend.
@Suite(.startsPrograms, .serialized, .enabled(if: FrontEnd.isAvailable, FrontEnd.missing))
struct PortalAdoptionTests {
    private static let functions = #"""
        set -u
        A=org.freedesktop.appearance
        conf=$XDG_CONFIG_HOME/xdg-desktop-portal
        bus() {
            gdbus call --session --dest org.freedesktop.DBus --object-path /org/freedesktop/DBus \
                --method org.freedesktop.DBus."$@"
        }
        portal() {
            gdbus call --session --dest org.freedesktop.portal.Desktop \
                --object-path /org/freedesktop/portal/desktop --method org.freedesktop.portal."$@" 2>&1 |
                sed 's/.*portal.Error.NotFound.*/none/'
        }
        read_setting() { portal Settings.Read $A $1; }
        end() {
            bus NameHasOwner $1 | grep -q true || return
            kill $(bus GetConnectionUnixProcessID $1 | tr -dc '0-9 ' | awk '{print $NF}')
            while bus NameHasOwner $1 | grep -q true; do :; done
        }
        restart() {
            # Newer portals read this directory only, if tests name it.
            rm -f $XDG_DESKTOP_PORTAL_DIR/*portals.conf
            cp $conf/*portals.conf $XDG_DESKTOP_PORTAL_DIR 2> /dev/null
            end org.freedesktop.portal.Desktop
        }

        """#

    /// Another backend, whose colour scheme is always dark.
    private static let other = #"""
        from gi.repository import Gio, GLib
        XML = """<node><interface name="org.freedesktop.impl.portal.Settings">
        <method name="ReadAll"><arg type="as" direction="in"/><arg type="a{sa{sv}}" direction="out"/></method>
        <method name="Read"><arg type="s" direction="in"/><arg type="s" direction="in"/>
            <arg type="v" direction="out"/></method></interface></node>"""
        DARK = GLib.Variant("u", 1)
        def called(bus, sender, path, interface, method, arguments, invocation):
            if method == "ReadAll":
                all = {"org.freedesktop.appearance": {"color-scheme": DARK}}
                invocation.return_value(GLib.Variant("(a{sa{sv}})", (all,)))
            elif arguments.unpack() == ("org.freedesktop.appearance", "color-scheme"):
                invocation.return_value(GLib.Variant("(v)", (DARK,)))
            else:
                invocation.return_dbus_error("org.freedesktop.portal.Error.NotFound", "")
        bus = Gio.bus_get_sync(Gio.BusType.SESSION)
        bus.register_object("/org/freedesktop/portal/desktop",
                            Gio.DBusNodeInfo.new_for_xml(XML).interfaces[0], called, None, None)
        Gio.bus_own_name_on_connection(bus, "org.freedesktop.impl.portal.desktop.gtk", 0, None, None)
        GLib.MainLoop().run()
        """#

    private let session: AdoptionSession

    init() throws {
        session = try AdoptionSession()
        let directory = session.directory
        for folder in ["backends", "share/xdg-desktop-portal", "config/xdg-desktop-portal"] {
            try FileManager.default.createDirectory(
                atPath: "\(directory.path)/\(folder)", withIntermediateDirectories: true)
        }
        let services = directory.path + "/share/dbus-1/services"
        try FileManager.default.copyItem(
            atPath: FrontEnd.service, toPath: services + "/org.freedesktop.portal.Desktop.service")
        let program = try directory.write(Self.other, to: "other.py")
        try directory.write(
            """
            [D-BUS Service]
            Name=org.freedesktop.impl.portal.desktop.gtk
            Exec=/usr/bin/python3 \(program)

            """, to: "share/dbus-1/services/org.freedesktop.impl.portal.desktop.gtk.service")
        try directory.write(
            """
            [portal]
            DBusName=org.freedesktop.impl.portal.desktop.gtk
            Interfaces=org.freedesktop.impl.portal.Settings;
            UseIn=gnome

            """, to: "backends/gtk.portal")
        // It would mount a file system.
        try directory.write(
            "[D-BUS Service]\nName=org.freedesktop.portal.Documents\nExec=/bin/false\n",
            to: "share/dbus-1/services/org.freedesktop.portal.Documents.service")
        try FileManager.default.copyItem(
            atPath: Desktop.packageDirectory + "systemd/defaultsd.portal",
            toPath: directory.path + "/backends/defaultsd.portal")
    }

    private func run(_ script: String, desktop: String = "") throws -> [String] {
        let result = session.run(
            Self.functions + script,
            adding: [
                "XDG_DESKTOP_PORTAL_DIR": session.directory.path + "/backends",
                "XDG_CURRENT_DESKTOP": desktop,
            ])
        #expect(result.status == 0, "\(result)")
        return result.output.components(separatedBy: "----\n")
    }

    @Test func `What is set here is what programs in a sandbox see, and the rest is the other's`()
        throws
    {
        let parts = try run(
            """
            read_setting color-scheme; read_setting accent-color; echo ----
            defaultsctl adopt portal | sed 's/(process [0-9]*)/(process P)/; s/kill [0-9]*/kill P/'
            restart; read_setting color-scheme; read_setting accent-color; echo ----
            coproc monitor {
                exec gdbus monitor --session --dest org.freedesktop.portal.Desktop \
                    --object-path /org/freedesktop/portal/desktop
            }
            until bus Debug.Stats.GetAllMatchRules | grep -q "type='signal',path='/org/freedesktop/portal/desktop'"; do :; done
            next() {
                while read -r line <&${monitor[0]}; do
                    case $line in *SettingChanged*) echo "${line#*SettingChanged }"; break ;; esac
                done
            }
            defaultsctl write $A color-scheme -int 2; next
            defaultsctl write $A accent-color '#ff0000'; next
            defaultsctl delete $A color-scheme; next
            defaultsctl write $A contrast high; next
            kill $monitor_PID; echo ----
            read_setting color-scheme; read_setting accent-color; read_setting contrast
            defaultsctl doctor | grep -A1 ' portal ' ; echo ----
            defaultsctl release portal | sed 's/(process [0-9]*)/(process P)/; s/kill [0-9]*/kill P/'
            read_setting color-scheme; read_setting contrast
            restart; read_setting color-scheme; read_setting contrast
            find $conf $XDG_DATA_HOME/dbus-1 -type f; bus NameHasOwner org.freedesktop.impl.portal.desktop.defaultsd
            """)
        try #require(parts.count == 5, "\(parts)")
        #expect(parts[0] == "(<<uint32 1>>,)\nnone\n")
        #expect(parts[1].hasPrefix("portal: Programs use defaultsd now."), "\(parts)")
        #expect(parts[1].hasSuffix("(<<uint32 1>>,)\nnone\n"), "\(parts)")
        let appearance = "'org.freedesktop.appearance'"
        #expect(
            parts[2]
                == """
                (\(appearance), 'color-scheme', <uint32 2>)
                (\(appearance), 'accent-color', <(1.0, 0.0, 0.0)>)
                (\(appearance), 'color-scheme', <uint32 1>)
                (\(appearance), 'contrast', <uint32 1>)

                """)
        #expect(
            parts[3].hasPrefix("(<<uint32 1>>,)\n(<<(1.0, 0.0, 0.0)>>,)\n(<<uint32 1>>,)\n"),
            "\(parts)")
        #expect(parts[3].contains("Its programs use defaultsd."), "\(parts)")
        #expect(
            parts[4].hasPrefix(
                "portal: Programs use the other backends of the Settings portal again."), "\(parts)"
        )
        #expect(
            parts[4].hasSuffix(
                "(<<uint32 1>>,)\nnone\n(<<uint32 1>>,)\nnone\n(false,)\n"), "\(parts)")
    }

    @Test func `A portal that runs without defaultsd is named, with the command that restarts it`()
        throws
    {
        let parts = try run(
            """
            mv $XDG_DESKTOP_PORTAL_DIR/defaultsd.portal .; read_setting color-scheme
            mv defaultsd.portal $XDG_DESKTOP_PORTAL_DIR
            defaultsctl adopt portal; defaultsctl doctor | grep -A1 ' portal ' ; echo ----
            $(defaultsctl adopt portal | grep -o 'kill [0-9]*')
            while bus NameHasOwner org.freedesktop.portal.Desktop | grep -q true; do :; done
            restart; read_setting color-scheme; defaultsctl adopt portal; defaultsctl doctor | grep -A1 ' portal '
            """)
        try #require(parts.count == 2, "\(parts)")
        #expect(parts[0].contains("Restart the portal (process "), "\(parts)")
        #expect(parts[0].contains("Its programs do not use defaultsd yet."), "\(parts)")
        #expect(
            parts[1].hasPrefix("(<<uint32 1>>,)\nportal is adopted already.\n")
                && parts[1].contains("Its programs use defaultsd."), "\(parts)")
    }

    /// A configuration before the adoption, the name of the file that is edited, and its contents then.
    static let configurations: [(before: [String: String], file: String, edited: String)] = [
        ([:], "portals.conf", "[preferred]\n# M\norg.S=defaultsd;gtk\n"),
        (
            ["config/portals.conf": "[preferred]\ndefault=kde;gtk"], "portals.conf",
            "[preferred]\n# M\norg.S=defaultsd;kde;gtk\ndefault=kde;gtk"
        ),
        (
            [
                "config/portals.conf":
                    "# mine\n[preferred]\ndefault=none\norg.S = gtk;\n\n[x]\norg.S=a\n"
            ],
            "portals.conf",
            "# mine\n[preferred]\ndefault=none\n# M\n# It replaces: org.S = gtk;\norg.S=defaultsd;gtk\n\n"
                + "[x]\norg.S=a\n"
        ),
        (
            ["config/portals.conf": "[preferred]\norg.S=none\n"], "portals.conf",
            "[preferred]\n# M\n# It replaces: org.S=none\norg.S=defaultsd\n"
        ),
        (
            [
                "share/example-portals.conf": "[preferred]\ndefault=*\n",
                "share/portals.conf": "[preferred]\ndefault=gtk\n",
            ], "example-portals.conf", "[preferred]\n# M\norg.S=defaultsd;*\ndefault=*\n"
        ),
        (
            [
                "config/portals.conf": "[preferred]\ndefault=gtk\n",
                "config/example-portals.conf": "[other]\ndefault=gtk\n",
                "share/example-portals.conf": "[preferred]\ndefault=*\n",
            ], "portals.conf", "[preferred]\n# M\norg.S=defaultsd;gtk\ndefault=gtk\n"
        ),
        (
            ["config/portals.conf": "[preferred]\norg.S=defaultsd;gtk\n"], "portals.conf",
            "[preferred]\norg.S=defaultsd;gtk\n"
        ),
    ]

    private func contents() throws -> [String: String] {
        var contents: [String: String] = [:]
        for folder in ["config", "share"] {
            let path = "\(session.directory.path)/\(folder)/xdg-desktop-portal"
            for name in try FileManager.default.contentsOfDirectory(atPath: path) {
                let text = try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8)
                contents["\(folder)/\(name)"] = text.replacing(
                    "org.freedesktop.impl.portal.Settings", with: "org.S"
                ).replacing("# The next line is from 'defaultsctl adopt portal'.", with: "# M")
            }
        }
        return contents
    }

    private func write(_ contents: [String: String]) throws {
        for (name, text) in contents {
            let path = name.replacing("/", with: "/xdg-desktop-portal/")
            try session.directory.write(
                text.replacing("org.S", with: "org.freedesktop.impl.portal.Settings"), to: path)
        }
    }

    @Test(arguments: configurations)
    func `The user's configuration is edited, and is as before after the release`(
        before: [String: String], file: String, edited: String
    ) throws {
        try write(before)
        _ = try run(
            "defaultsctl adopt portal; defaultsctl adopt portal", desktop: "no/name:Example")
        var after = try contents()
        let written = after.removeValue(forKey: "config/\(file)")
        let text = try #require(written)
        let isCopy = before["config/\(file)"] == nil
        let lines = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        #expect(lines[0].hasPrefix("# Made by 'defaultsctl adopt portal'") == isCopy)
        #expect((isCopy ? String(lines[1]) : text) == edited)
        #expect(after == before.filter { $0.key != "config/\(file)" })
        _ = try run("defaultsctl release portal", desktop: "Other")
        #expect(try contents() == before)
    }

    @Test func `What the user changes in the configuration meanwhile is kept`() throws {
        let own = "[preferred]\ndefault=gtk\norg.S=gtk\n"
        try write(["config/portals.conf": own])
        _ = try run(
            """
            defaultsctl adopt portal; sed -i 's/^default=.*/default=kde/' $conf/portals.conf
            echo '# more' >> $conf/portals.conf; defaultsctl release portal
            """)
        #expect(
            try contents() == [
                "config/portals.conf": "[preferred]\ndefault=kde\norg.S=gtk\n# more\n"
            ])
        _ = try run(
            """
            rm $conf/portals.conf; defaultsctl adopt portal
            echo 'default=kde' >> $conf/portals.conf; defaultsctl release portal
            """)
        #expect(try contents() == ["config/portals.conf": "[preferred]\ndefault=kde\n"])
        _ = try run(
            """
            defaultsctl adopt portal; sed -i 's/=defaultsd;/=mine;/' $conf/portals.conf
            defaultsctl release portal
            """)
        #expect(
            try contents() == ["config/portals.conf": "[preferred]\norg.S=mine;kde\ndefault=kde\n"])
    }

    @Test func `A dry run changes nothing, and without the portal the adoption is refused`() throws
    {
        let parts = try run(
            """
            defaultsctl adopt portal --dry-run; defaultsctl release portal --dry-run; echo ----
            rm $XDG_DESKTOP_PORTAL_DIR/defaultsd.portal; defaultsctl adopt portal 2>&1; echo ----
            rm $XDG_DATA_DIRS/dbus-1/services/org.freedesktop.portal.*
            defaultsctl adopt portal 2>&1; defaultsctl adopt | grep portal
            ls $XDG_CONFIG_HOME/defaultsd | grep portal; find $conf $XDG_DATA_HOME -type f -name '*portal*'
            """)
        try #require(parts.count == 3, "\(parts)")
        #expect(
            parts[0].hasPrefix("portal: These files would be written: ")
                && parts[0].contains("/portals.conf") && parts[0].hasSuffix("is not adopted.\n"),
            "\(parts)")
        #expect(parts[1].contains("defaultsd.portal is in none of the directories"), "\(parts)")
        #expect(
            parts[2].split(separator: "\n").count == 2
                && parts[2].contains("portal is skipped: xdg-desktop-portal is not installed"),
            "\(parts)")
    }

    /// Whatever the moment of a kill, the next run comes to the same end.
    @Test func `A command that is killed at any moment loses nothing, and can be repeated`() throws
    {
        let own = "[preferred]\ndefault=gtk\norg.S=gtk\n"
        try write(["config/portals.conf": own])
        let parts = try run(
            """
            name=org.freedesktop.impl.portal.desktop.defaultsd
            defaultsctl write $A contrast 1; cp $conf/portals.conf before
            for step in $(seq 1 8); do
                timeout --signal=KILL 0.0$((step * 9 / 10))$((step * 9 % 10)) defaultsctl adopt portal > /dev/null 2>&1
                defaultsctl adopt portal > /dev/null || echo failed
                bus NameHasOwner $name | grep -q true || echo "not adopted at $step"
                grep -q defaultsd $conf/portals.conf || echo "not configured at $step"
                timeout --signal=KILL 0.0$((step * 9 / 10))$((step * 9 % 10)) defaultsctl release portal > /dev/null 2>&1
                defaultsctl release portal > /dev/null || echo failed
                bus NameHasOwner $name | grep -q false || echo "not released at $step"
                cmp before $conf/portals.conf
            done
            defaultsctl read $A contrast; find $XDG_DATA_HOME -name '*.service'
            """)
        #expect(parts == ["1\n"], "\(parts)")
        // A kill may leave the beginning of a new file, which nothing reads.
        #expect(try contents()["config/portals.conf"] == own)
    }
}
