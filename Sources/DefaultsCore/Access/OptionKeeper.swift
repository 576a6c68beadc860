import DefaultsModel
import DefaultsTerms
import Logging

/// The options of the service, as they are set now.
///
/// An option that is not set, and one whose value is not a whole number within its bounds, has its standard
/// value.
final class OptionKeeper {
    private let policies: Policies
    private let logger: Logger
    /// How long changes wait; nil before it is read.
    private var knownDelays: FlushSchedule.Delays?
    /// The options whose values were ignored, as the log has reported.
    private var ignored: Set<ServiceOption> = []

    init(by policies: Policies, logger: Logger) {
        self.policies = policies
        self.logger = logger
    }

    /// How long changes wait until they go to disk.
    var delays: FlushSchedule.Delays {
        if let knownDelays { return knownDelays }
        let values = read()
        let delays = FlushSchedule.Delays(
            quiet: values[.writeDelay] ?? ServiceOption.writeDelay.standard,
            longest: values[.longestWriteDelay] ?? ServiceOption.longestWriteDelay.standard)
        knownDelays = delays
        return delays
    }

    /// Reads the options again if a domain has them.
    func noteChange(of domain: Domain) {
        if domain.name == ServiceOption.domain { readAgain() }
    }

    /// Forgets what was read.
    func readAgain() { knownDelays = nil }

    private func read() -> [ServiceOption: Int] {
        var values: [ServiceOption: Int] = [:]
        var ignored: Set<ServiceOption> = []
        for option in ServiceOption.allCases {
            guard let key = try? Key(option.rawValue),
                let value = policies.value(of: key, in: ServiceOption.domain)
            else { continue }
            if let number = value.wholeNumber, option.bounds.contains(number) {
                values[option] = number
            } else {
                ignored.insert(option)
            }
        }
        for option in ignored.subtracting(self.ignored).sorted(by: { $0.rawValue < $1.rawValue }) {
            logger.warning(
                """
                \(option.rawValue) in \(ServiceOption.domain) is ignored: it is not a whole number \
                from \(option.bounds.lowerBound) to \(option.bounds.upperBound). The service uses \
                \(option.standard).
                """)
        }
        self.ignored = ignored
        return values
    }
}
