import DBus
import DefaultsClient
import RoamingTerms

/// Checks the roaming service, if it runs.
struct RoamCheck {
    /// One finding; none if nothing roams on this machine.
    func findings() async -> [Finding] {
        guard let loop = MainThread.loop,
            let bus = try? await Connection.open(.session, on: loop)
        else { return [] }
        let findings = await Self.findings(on: bus)
        await bus.close()
        return findings
    }

    private static func findings(on bus: Connection) async -> [Finding] {
        let subject = "roaming"
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
            if case .dictionary(_, _, let obstacles) = status["Obstacles"], !obstacles.isEmpty {
                return [
                    .warning(
                        subject, "\(Amount.of(obstacles.count, "key")) cannot roam for now.",
                        "See: defaultsctl roam status")
                ]
            }
            guard case .uint64(let same) = status["Same"], status["State"] != .string("off") else {
                return [.ok(subject, "It is turned off.")]
            }
            return [.ok(subject, "\(Amount.of(same, "key")) are the same here and there.")]
        } catch {
            return [
                .problem(
                    subject, "The service does not answer: \(ToolError(error).fact)",
                    "Run: systemctl --user restart \(RoamUnit.name)")
            ]
        }
    }
}
