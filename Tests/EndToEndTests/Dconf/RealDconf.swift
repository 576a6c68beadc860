import Foundation
import TestSupport
import Testing

/// What is installed of dconf: its service, its tool, and its module for GIO.
enum RealDconf {
    private static let activation = "/usr/share/dbus-1/services/ca.desrt.dconf.service"

    /// The service; nil if it is not installed.
    static let program: String? = {
        let lines = (try? String(contentsOfFile: activation, encoding: .utf8)) ?? ""
        let path = lines.firstMatch(of: /Exec=(\S+)/).map { String($0.1) }
        return path.flatMap { FileManager.default.isExecutableFile(atPath: $0) ? $0 : nil }
    }()

    /// The module for GIO; nil if it is not installed.
    private static let module: String? = {
        let found = ProgramResult.run(["sh", "-c", "ls /usr/lib/*/gio/modules/libdconfsettings.so"])
        return found.status == 0 ? found.output.trimmingCharacters(in: .newlines) : nil
    }()

    /// Whether all of it and some schemas are installed.
    static let isAvailable =
        program != nil && module != nil && ProgramResult.run(["dconf", "help"]).status == 0
        && ProgramResult.run(["gsettings", "list-keys", "org.gnome.desktop.interface"]).status == 0

    static let missing = Comment(
        """
        dconf is missing: apt-get install dconf-cli dconf-service dconf-gsettings-backend \
        gsettings-desktop-schemas
        """)

    /// Puts the service where the bus of a session finds it, and its module and ours in the folder
    /// `modules` of the session.
    static func install(in session: AdoptionSession) throws {
        let path = session.directory.path
        try FileManager.default.createDirectory(
            atPath: "\(path)/modules", withIntermediateDirectories: false)
        let own = Desktop.packageDirectory + ".build/gsettings/libgsettingsdefaults.so"
        for file in [own, module ?? ""] {
            try FileManager.default.copyItem(
                atPath: file, toPath: "\(path)/modules/\((file as NSString).lastPathComponent)")
        }
        try FileManager.default.copyItem(
            atPath: activation, toPath: "\(path)/share/dbus-1/services/ca.desrt.dconf.service")
    }
}
