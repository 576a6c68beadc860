import TestSupport

/// A machine that the desktop's home is on for a while.
struct Machine {
    /// The machine ID.
    let id: String
    /// The host name.
    let name: String

    /// Whether the daemon can be run as if on another machine here, which takes namespaces of one's
    /// own.
    static let canBePretended =
        ProgramResult.run(pretending(name: "x", idFile: "/etc/machine-id") + ["true"]).status == 0

    /// What runs a program as if on a machine.
    fileprivate static func pretending(name: String, idFile: String) -> [String] {
        [
            "unshare", "--uts", "--mount", "sh", "-c",
            #"hostname "$0" && mount --bind "$1" /etc/machine-id && shift && exec "$@""#, name,
            idFile,
        ]
    }
}

extension Desktop {
    /// Has the daemon serve on a machine, while something is done.
    @discardableResult
    func onMachine<Result>(_ machine: Machine, _ body: () throws -> Result) throws -> Result {
        let idFile = try directory.write("\(machine.id)\n", to: "machine-id")
        let daemon = try startDaemon(
            by: Machine.pretending(name: machine.name, idFile: idFile))
        defer { withExtendedLifetime(daemon) {} }
        let result = try body()
        try stopDaemon()
        return result
    }
}
