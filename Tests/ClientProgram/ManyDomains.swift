import DefaultsClient

/// Very many domains in one process: `many COUNT COMMAND`, then a line for each round of reads.
///
/// With each line of standard input it prints the sum of a key over all the domains.
struct ManyDomains {
    private let domains: [Defaults]

    init(_ count: String, _ prefix: String) {
        domains = (0..<(Int(count) ?? 0)).map { Defaults(domain: "\(prefix).D\($0)") }
    }

    func go() async {
        while let line = readLine() {
            if line == "set" {
                for (number, defaults) in domains.enumerated() { defaults[.count] = number }
                do {
                    for defaults in domains { try await defaults.flush(within: .seconds(3600)) }
                } catch {
                    stop("\(error)")
                }
            }
            say("= \(domains.reduce(0) { $0 + $1[.count] })")
        }
    }
}
