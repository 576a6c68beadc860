@preconcurrency import Glibc

/// The result of one check.
struct Finding {
    enum State: String {
        /// It is as it should be.
        case ok
        /// It works, but not as well as it could.
        case warning
        /// It does not work.
        case problem
    }

    /// The subject of the check, in a word or two.
    let subject: String
    let state: State
    /// The result.
    let message: String
    /// What to do about it; nil if there is nothing to do.
    let advice: String?

    static func ok(_ subject: String, _ message: String) -> Finding {
        Finding(subject: subject, state: .ok, message: message, advice: nil)
    }

    static func warning(_ subject: String, _ message: String, _ advice: String) -> Finding {
        Finding(subject: subject, state: .warning, message: message, advice: advice)
    }

    static func problem(_ subject: String, _ message: String, _ advice: String) -> Finding {
        Finding(subject: subject, state: .problem, message: message, advice: advice)
    }
}

extension Finding.State {
    /// Green, yellow and red, as ECMA-48 has them.
    fileprivate var color: String {
        switch self {
        case .ok: "32"
        case .warning: "33"
        case .problem: "1;31"
        }
    }
}

extension Finding {
    /// Findings as text for people, with the advice on a separate line.
    ///
    /// - Parameter terminal: The output. If it has colours, they are used.
    static func text(_ findings: [Finding], on terminal: Terminal) -> String {
        var columns = Columns(areNumbers: [false, false, false])
        columns.rows = findings.map { [$0.state.rawValue, $0.subject, $0.message.onOneLine] }
        return zip(columns.lines, findings).map { line, finding in
            let state = finding.state.rawValue
            let line = terminal.painted(state, finding.state.color) + line.dropFirst(state.count)
            return finding.advice.map { "\(line)\n         -> \($0.onOneLine)" } ?? line
        }.joined(separator: "\n")
    }

    /// Findings as a JSON object, with the number of problems.
    static func json(_ findings: [Finding]) throws -> String {
        let list = try findings.map { finding in
            try ShownJSON.object([
                ("check", finding.subject.quoted), ("state", finding.state.rawValue.quoted),
                ("message", finding.message.quoted),
                ("advice", finding.advice.map { try $0.quoted } ?? "null"),
            ])
        }
        let problems = findings.count { $0.state == .problem }
        return try ShownJSON.object([
            ("problems", "\(problems)"), ("checks", "[\(list.joined(separator: ","))]"),
        ])
    }
}

/// Directories from the environment.
struct Places {
    let home: String?
    let config: String?
    let runtime: String?
    /// Where the user's own data is.
    let ownData: String?
    /// Where the bus looks for activation files, in this order.
    let services: [String]
    /// Where the user's service manager looks for units, in this order.
    let units: [String]

    /// Reads the variables.
    ///
    /// One that is not an absolute path counts as unset.
    ///
    /// See the [XDG Base Directory
    /// Specification](https://specifications.freedesktop.org/basedir-spec/latest/).
    init() {
        func path(_ name: String) -> String? {
            Defaultsctl.console.variable(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        home = path("HOME")
        config = path("XDG_CONFIG_HOME") ?? home.map { "\($0)/.config" }
        runtime = path("XDG_RUNTIME_DIR")
        ownData = path("XDG_DATA_HOME") ?? home.map { "\($0)/.local/share" }
        let allData = Defaultsctl.console.variable("XDG_DATA_DIRS").flatMap {
            $0.isEmpty ? nil : $0
        }
        let data =
            [ownData].compactMap(\.self)
            + (allData ?? "/usr/local/share:/usr/share").split(separator: ":").map(String.init)
        let runtimeServices = runtime.map { ["\($0)/dbus-1/services"] } ?? []
        services = runtimeServices + data.map { "\($0)/dbus-1/services" }
        let units = [config, "/etc", runtime, ownData, "/usr/local/lib", "/usr/local/share"]
        self.units = (units + ["/usr/lib", "/usr/share"]).compactMap(\.self)
            .map { "\($0)/systemd/user" }
    }

    /// The directory of the database; nil if the environment does not name one.
    var database: String? { config.map { "\($0)/defaultsd" } }
}
