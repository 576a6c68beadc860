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
    /// The values of those that are set; nil before they are read.
    private var values: [ServiceOption: Int]?
    /// The options whose values were ignored, as the log has reported.
    private var ignored: Set<ServiceOption> = []

    init(by policies: Policies, logger: Logger) {
        self.policies = policies
        self.logger = logger
    }

    /// The value of an option.
    subscript(option: ServiceOption) -> Int {
        let values = self.values ?? read()
        self.values = values
        return values[option] ?? option.standard
    }

    /// How long changes wait until they go to disk.
    var delays: FlushSchedule.Delays {
        FlushSchedule.Delays(quiet: self[.writeDelay], longest: self[.longestWriteDelay])
    }

    /// Reads the options again if a domain has them.
    func noteChange(of domain: Domain) {
        if domain.name == ServiceOption.domain { readAgain() }
    }

    /// Forgets what was read.
    func readAgain() { values = nil }

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
