import DefaultsModel
import DefaultsTerms
import Logging

/// The options of the service, or of a part of it, as they are set now.
///
/// An option that is not set, and one whose value is not a whole number within its bounds, has its standard
/// value.
final class OptionKeeper<Option: NumberOption> {
    private let policies: Policies
    private let logger: Logger
    /// The values of those that are set; nil before they are read.
    private var known: [Option: Int]?
    /// The options whose values were ignored, as the log has reported.
    private var ignored: Set<Option> = []

    init(by policies: Policies, logger: Logger) {
        self.policies = policies
        self.logger = logger
    }

    /// The value of an option.
    subscript(option: Option) -> Int { values[option] ?? option.standard }

    /// The values of those that are set.
    var values: [Option: Int] {
        let values = known ?? read()
        known = values
        return values
    }

    /// Reads the options again if a domain has them.
    func noteChange(of domain: Domain) {
        if domain.name == Option.domain { readAgain() }
    }

    /// Forgets what was read.
    func readAgain() { known = nil }

    private func read() -> [Option: Int] {
        var values: [Option: Int] = [:]
        var ignored: Set<Option> = []
        for option in Option.allCases {
            guard let key = try? Key(option.rawValue),
                let value = policies.value(of: key, in: Option.domain)
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
                \(option.rawValue) in \(Option.domain) is ignored: it is not a whole number \
                from \(option.bounds.lowerBound) to \(option.bounds.upperBound). The service uses \
                \(option.standard).
                """)
        }
        self.ignored = ignored
        return values
    }
}

extension OptionKeeper<ServiceOption> {
    /// How long changes wait until they go to disk.
    var delays: FlushSchedule.Delays {
        FlushSchedule.Delays(quiet: self[.writeDelay], longest: self[.longestWriteDelay])
    }
}
