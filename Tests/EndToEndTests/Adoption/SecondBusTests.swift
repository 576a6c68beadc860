import Foundation
import TestSupport
import TestTiers
import Testing

/// A second bus of a user, as `dbus-run-session` and remote desktops have it, and none, as cron has it.
@Suite(
    .startsPrograms, .serialized, .enabled(if: RealDconf.isAvailable, RealDconf.missing))
struct SecondBusTests {
    private static let functions = """
        set -u
        G=org.gnome.desktop.interface
        D=/org/gnome/desktop/interface
        export G D
        mkdir -m 700 runtime2

        """

    private let session: AdoptionSession

    init() throws {
        session = try AdoptionSession()
        try RealDconf.install(in: session)
    }

    private func run(_ script: String) throws -> [String] {
        let result = session.run(
            Self.functions + script,
            adding: [
                "GIO_EXTRA_MODULES": session.directory.path + "/modules",
                "GIO_MODULE_DIR": session.directory.path + "/none",
                "XDG_DATA_DIRS": session.directory.path + "/share:/usr/share",
            ])
        #expect(result.status == 0, "\(result)")
        return result.output.components(separatedBy: "\n").dropLast()
    }

    @Test(arguments: ["$XDG_RUNTIME_DIR", "$HOME/runtime2"])
    func `GSettings programs on a second bus have the settings of the session`(
        runtime: String
    ) throws {
        let lines = try run(
            """
            defaultsctl adopt gsettings > /dev/null; gsettings set $G cursor-size 31
            XDG_RUNTIME_DIR=\(runtime) dbus-run-session -- sh -c \
                'gsettings get $G cursor-size; gsettings set $G cursor-size 32'
            gsettings get $G cursor-size; defaultsctl read $G cursor-size
            """)
        #expect(lines == ["31", "32", "32"])
    }

    @Test func `GSettings programs without a bus have the settings of the user`() throws {
        let lines = try run(
            """
            defaultsctl adopt gsettings > /dev/null; gsettings set $G cursor-size 31
            bare() { env -u DBUS_SESSION_BUS_ADDRESS -u XDG_RUNTIME_DIR -u DISPLAY "$@"; }
            bare gsettings get $G cursor-size; bare gsettings set $G cursor-size 32
            gsettings get $G cursor-size
            """)
        #expect(lines == ["31", "32"])
    }

    @Test func `Programs of dconf on a second bus change the settings of the session`() throws {
        let lines = try run(
            """
            defaultsctl adopt gsettings dconf > /dev/null; gsettings set $G cursor-size 31
            while [ "$(dconf read $D/cursor-size)" != 31 ]; do :; done
            dbus-run-session -- sh -c 'dconf read $D/cursor-size; dconf write $D/cursor-size 32
                dconf read $D/cursor-size; dconf write /com/example/a "uint32 5"; dconf reset $D/cursor-size
                dconf write relative 5 2> /dev/null || echo refused'
            gsettings get $G cursor-size; dconf read /com/example/a; defaultsctl read com.example a
            """)
        #expect(lines == ["31", "32", "refused", "24", "uint32 5", "5"])
    }

    @Test(.enabled(if: XfconfDesktop.xfconfd != nil, "xfconf is missing: apt-get install xfconf"))
    func `Programs of Xfce on a second bus have the settings of the session`() throws {
        let lines = try run(
            """
            xfconf-query -c a -p /b -n -t uint -s 31; defaultsctl adopt xfconf > /dev/null
            cat > inner <<'END'
            coproc monitor { exec xfconf-query -m -c a; }
            while read -r line <&"${monitor[0]}"; do [ -z "$line" ] && break; done
            xfconf-query -c a -p /b; xfconf-query -c a -p /b -s 32
            read -r line <&"${monitor[0]}"; echo "$line"
            xfconf-query -c a -p /none 2> /dev/null || echo missing
            xfconf-query -c a -lv; kill $monitor_PID
            END
            dbus-run-session -- bash inner
            xfconf-query -c a -p /b; defaultsctl read xfconf.a /b
            """)
        #expect(lines == ["31", "set: /b", "missing", "/b  32", "32", "32"])
    }
}
