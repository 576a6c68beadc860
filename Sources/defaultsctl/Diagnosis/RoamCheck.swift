import DBus
import DefaultsClient
import RoamingTerms
import Wording

/// Checks the roaming service, if it runs.
struct RoamCheck {
    /// The findings; none if nothing roams on this machine.
    func findings() async -> [Finding] {
        guard let loop = Defaultsctl.console.loop,
            let bus = try? await Connection.open(.session, on: loop)
        else { return [] }
        let findings = await Self.findings(on: bus)
        await bus.close()
        return findings
    }

    private static let subject = "roaming"

    private static func findings(on bus: Connection) async -> [Finding] {
        // Asking must not start it.
        guard (try? await bus.hasOwner(of: RoamContract.busName)) == true else { return [] }
        do {
            let status = try await RoamingService(on: bus).status()
            if case .string(let problem) = status["Problem"], !problem.isEmpty {
                return [
                    .warning(
                        subject, "The last exchange was interrupted: \(problem)",
                        "It is tried again. To try it now: defaultsctl roam now")
                ]
            }
            let hindrances = hindrances(in: status)
            guard hindrances.isEmpty else { return hindrances }
            if status["State"] == .string("paused") {
                return [.ok(subject, "It is paused. To continue: defaultsctl roam resume")]
            }
            guard case .uint64(let same) = status["Same"], status["State"] != .string("off") else {
                return [.ok(subject, "It is turned off.")]
            }
            return [
                .ok(subject, "\(counted(same, "key", verb: "is", "are")) the same here and there.")
            ]
        } catch {
            return [
                .problem(
                    subject, "The service does not answer: \(ToolError(error).fact)",
                    "Run: systemctl --user restart \(RoamUnit.name)")
            ]
        }
    }

    /// What does not roam although the exchange works.
    private static func hindrances(in status: [String: Value]) -> [Finding] {
        let advice = "See: defaultsctl roam status"
        var findings: [Finding] = []
        if case .dictionary(_, _, let obstacles) = status["Obstacles"], !obstacles.isEmpty {
            findings.append(
                .warning(
                    subject, "\(counted(obstacles.count, "key")) cannot roam for now.", advice))
        }
        let unusable = RoamStatusCommand.unusable(status)
        if let first = unusable.first {
            let more = unusable.count > 1 ? " And \(unusable.count - 1) more." : ""
            findings.append(
                .warning(subject, "Something at the place cannot be used: \(first)\(more)", advice))
        }
        return findings
    }
}
