import DefaultsModel
import DefaultsTerms
import Logging

/// Logs what programs in a sandbox were refused, so that people find out what to grant.
///
/// Each application and method is logged once, and no more than ``most`` of them.
struct RefusalLog {
    /// The most lines.
    private static let most = 1000

    private struct Refusal: Hashable {
        let application: String?
        let method: String
    }

    private struct Excess: Hashable {
        let name: String
        let bound: QuotaTerms.Bound
    }

    private var logged: Set<Refusal> = []
    private var excesses: Set<Excess> = []

    /// Notes that a bound was reached.
    mutating func note(_ quota: QuotaUse, _ logger: Logger) {
        let excess = Excess(name: quota.name, bound: quota.bound)
        guard excesses.count < Self.most, excesses.insert(excess).inserted else { return }
        logger.log(
            .quotaReached, level: .notice,
            """
            A change was refused because of the bound \(quota.bound.rawValue) of \(quota.name), which is \
            \(quota.limit). 'defaultsctl stats' shows who is near. This is logged once.
            """, fields: [.program: quota.name])
    }

    /// Notes a refusal.
    ///
    /// - Parameters:
    ///   - application: The caller's; nil if it is unknown.
    ///   - method: The method.
    ///   - domain: The domain that is outside of the caller's scope; nil if the method is refused for
    ///     all domains.
    mutating func note(
        _ application: String?, _ method: String, _ domain: Domain?, _ logger: Logger
    ) {
        let refusal = Refusal(application: application, method: method)
        guard logged.count < Self.most, logged.insert(refusal).inserted else { return }
        let program = application ?? "A program in a sandbox without a known application"
        guard let domain else {
            return logger.log(
                .callRefused, level: .notice,
                "\(program) may not call \(refusal.method), because it is in a sandbox.",
                fields: [.program: program])
        }
        logger.log(
            .callRefused, level: .notice,
            """
            \(program) has called \(refusal.method) for the domain \(domain), which it may not use. \
            'defaultsctl grant' can allow it. This is logged once for each method.
            """, fields: [.program: program, .domain: domain.name])
    }
}
