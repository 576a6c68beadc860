import DefaultsClient
@preconcurrency import Glibc

/// Looks at the files of the administrator and the vendors, and at who can write those that are
/// mandatory.
struct LayerCheck {
    /// As the service has read them; nil where none answers.
    let files: [RemoteLayerFile]?

    private static let managedDirectory = "/etc/defaultsd/managed"

    func findings() -> [Finding] {
        [contents(), permissions()].compactMap(\.self)
    }

    private func contents() -> Finding? {
        guard let files else { return nil }
        let bad = files.compactMap(\.complaint)
        guard let first = bad.first else {
            return .ok(
                "layers' files", files.isEmpty ? "There are none." : "\(files.count), all good")
        }
        let others = bad.count > 1 ? " (and \(bad.count - 1) more are bad)" : ""
        return .problem(
            "layers' files", "\(first)\(others)",
            "What was good of it before still holds. 'defaultsctl lint' shows all that is to be "
                + "mended; tell who administers this machine.")
    }

    /// Whether only root can write what is mandatory.
    private func permissions() -> Finding? {
        let paths = (files ?? []).filter { $0.layer == .managed }.map(\.path)
        var known: Set<String> = []
        let directories = ([Self.managedDirectory] + paths.map(SystemFile.directory))
            .filter { known.insert($0).inserted }
        for path in directories + paths {
            guard let status = SystemFile.status(of: path) else { continue }
            let quoted = ShellWord.quoted(path)
            if status.st_uid != 0 {
                return .warning(
                    "managed files", "\(path) is the user's of number \(status.st_uid).",
                    "Whoever can write it can prescribe values. As root: chown root \(quoted)")
            }
            if status.st_mode & (S_IWGRP | S_IWOTH) != 0 {
                return .warning(
                    "managed files", "\(path) can be written by others than root.",
                    "They can prescribe values. As root: chmod go-w \(quoted)")
            }
        }
        return nil
    }
}
