import DBus
import SystemCalls

/// Checks the services of desktops that the user has adopted.
struct DesktopCheck {
    let places: Places
    /// Whether the bus is asked who owns the names.
    let asksBus: Bool

    /// One finding for each adopted service; none if no service is adopted.
    func findings() async -> [Finding] {
        let bus = asksBus ? try? await Defaultsctl.console.openBus() : nil
        var findings: [Finding] = []
        for kind in DesktopDoors.all {
            guard let door = try? kind.init(in: places),
                let files = try? AdoptionFiles(of: door, in: places), files.isStarted
            else { continue }
            findings.append(await finding(of: door, files, on: bus))
        }
        await bus?.close()
        return findings
    }

    private func finding(
        of door: any DesktopDoor, _ files: AdoptionFiles, on bus: Connection?
    ) async -> Finding {
        let subject = "\(door.name)"
        guard !files.isIncomplete else {
            return .warning(
                subject, "Its adoption or release was interrupted.",
                "Run 'defaultsctl adopt \(door.name)' or 'defaultsctl release \(door.name)' again.")
        }
        do {
            try door.check()
        } catch {
            return .problem(
                subject, ToolError(error).fact, "Until then: defaultsctl release \(door.name)")
        }
        for name in door.busNames {
            guard let process = (try? await bus?.rival(for: name)) ?? nil else { continue }
            return .warning(
                subject, "Process \(process) owns \(name), though defaultsd is to serve it.",
                "Run 'defaultsctl adopt \(door.name)' again.")
        }
        if let bus, let advice = await door.advice(isAdopted: true, over: bus) {
            return .warning(subject, "Its programs do not use defaultsd yet.", advice)
        }
        return programs(of: door) ?? .ok(subject, "Its programs use defaultsd.")
    }

    /// The programs that use the other service; nil if there are none.
    private func programs(of door: any DesktopDoor) -> Finding? {
        let programs = door.rivalLibrary.map(RunningPrograms.names) ?? []
        guard !programs.isEmpty else { return nil }
        return .warning(
            "\(door.name)",
            "These programs use \(door.rival) until they end: \(programs.joined(separator: ", ")).",
            "Restart them or log in again. 'defaultsctl adopt \(door.name)' takes over what they have "
                + "stored meanwhile.")
    }
}
