import DBus
import DefaultsClient
import DefaultsProtocol
@preconcurrency import Glibc
import SystemCalls

/// Checks the files with which the bus and the service manager start the daemon.
struct InstallationCheck {
    let places: Places
    private let subject = "activation file"

    func findings() -> [Finding] {
        [program()] + activation()
    }

    private func program() -> Finding {
        guard let program = DaemonProgram.find() else {
            return .warning(
                "program", "There is no defaultsd beside this program or in PATH.",
                "Without a bus, this program needs it. Install both programs into the same directory."
            )
        }
        return .ok("program", program)
    }

    private func activation() -> [Finding] {
        guard let file = activationFile() else {
            return [
                .warning(
                    subject,
                    "No file in \(places.services.joined(separator: ", ")) names "
                        + "\(Contract.busName).",
                    "Install it (make install) into a directory that XDG_DATA_DIRS names.")
            ]
        }
        guard let program = file.program("Exec") else {
            return [.problem(subject, "\(file.path) has no line Exec=.", "Reinstall it.")]
        }
        return [
            check(program, of: file, as: subject) ?? .ok(subject, file.path),
            file["SystemdService"].map { unit($0, starting: program) },
        ].compactMap(\.self)
    }

    private func activationFile() -> KeyFile? {
        for directory in places.services {
            let names = Directory.readableNames(in: directory)
            for name in names.sorted() where name.hasSuffix(".service") {
                if let file = KeyFile("\(directory)/\(name)"),
                    file["Name"] == Contract.busName.string
                {
                    return file
                }
            }
        }
        return nil
    }

    private func unit(_ name: String, starting program: String) -> Finding {
        let subject = "unit file"
        let isUsed = places.runtime.map { access("\($0)/systemd/private", F_OK) == 0 } ?? false
        guard let file = places.units.lazy.compactMap({ KeyFile("\($0)/\(name)") }).first else {
            return isUsed
                ? .problem(
                    subject, "The service manager has no unit \(name), so the bus cannot start it.",
                    "Install it (make install), then: systemctl --user daemon-reload")
                : .ok(
                    subject, "There is none, and this user has no service manager that needs one.")
        }
        if Path.target(ofLink: file.path) == "/dev/null" {
            return .problem(
                subject, "\(file.path) masks the unit, so it cannot start.",
                "To allow it: systemctl --user unmask "
                    + (file.path.hasPrefix("\(places.runtime ?? "-")/") ? "--runtime " : "") + name)
        }
        guard let started = file.program("ExecStart") else {
            return .problem(subject, "\(file.path) has no line ExecStart=.", "Reinstall it.")
        }
        if let finding = check(started, of: file, as: subject) { return finding }
        guard FileIdentity.areSame(started, program) else {
            return .warning(
                subject,
                "\(file.path) starts \(started), but the activation file starts \(program).",
                "Reinstall both with the same PREFIX.")
        }
        return .ok(subject, file.path)
    }

    /// The problem with a program that a file starts; nil if there is none.
    private func check(_ program: String, of file: KeyFile, as subject: String) -> Finding? {
        // The bus searches its own PATH for a name without a slash.
        guard program.contains("/") else { return nil }
        guard access(program, X_OK) == 0 else {
            return .problem(
                subject,
                "\(file.path) starts \(program), which cannot be run: "
                    + "\(SystemError.words(for: errno)).", "Reinstall the program or the file.")
        }
        guard let own = DaemonProgram.find(), !FileIdentity.areSame(own, program) else {
            return nil
        }
        return .warning(
            subject, "\(file.path) starts \(program), but \(own) is beside this program.",
            "There are two installations. Remove the one that you do not want.")
    }
}
