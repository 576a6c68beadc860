import ArgumentParser
import DefaultsClient
import DefaultsProtocol
import DefaultsTerms
import KeyedArchive
import RoamingTerms

struct RoamDomains: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "domains",
        abstract: "Lists what roams.",
        discussion: """
            Each line shows a domain or a pattern, its keys, and the layer that has the rule. The \
            user's choice overrides what vendors propose, and the administrator's managed values \
            override both.
            """)

    @Flag(help: "Print a JSON array.")
    var json = false

    func run(with defaults: RemoteDefaults) async throws {
        var rules: [String: (rule: RoamChoice.Rule, layer: LayerName)] = [:]
        for layer in RoamTerms.layers {
            let entries = try await defaults.entries(in: layer.spelling(of: RoamTerms.domain))
                .entries
            for entry in entries
            where rules[entry.key] == nil && !RoamTerms.settings.contains(entry.key) {
                if let rule = RoamChoice.rule(in: entry.archive), RoamChoice.isName(entry.key) {
                    rules[entry.key] = (rule, layer)
                }
            }
        }
        let sorted = rules.sorted { $0.key < $1.key }
        if json {
            let objects = try sorted.map { name, value in
                try ShownJSON.object([
                    ("domain", name.quoted), ("only", Self.list(value.rule.only)),
                    ("except", Self.list(value.rule.except)),
                    ("layer", value.layer.rawValue.quoted),
                ])
            }
            return try SafeOutput.print(json: "[\(objects.joined(separator: ","))]")
        }
        var columns = Columns(
            headings: ["domain", "keys", "layer"], areNumbers: [false, false, false])
        columns.rows = sorted.map { name, value in
            [name.onOneLine, Self.words(value.rule), value.layer.rawValue]
        }
        for line in columns.lines { try SafeOutput.print(line) }
    }

    private static func list(_ patterns: [String]?) throws -> String {
        guard let patterns else { return "null" }
        return try "[\(patterns.map { try $0.quoted }.joined(separator: ","))]"
    }

    private static func words(_ rule: RoamChoice.Rule) -> String {
        if rule == .nothing { return "no key" }
        let only = rule.only.map { $0.map(\.onOneLine).joined(separator: ", ") } ?? "all keys"
        guard !rule.except.isEmpty else { return only }
        return "\(only) except \(rule.except.map(\.onOneLine).joined(separator: ", "))"
    }
}

struct RoamAdd: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Lets domains roam, on all machines.",
        discussion: """
              defaultsctl roam add org.example.Editor --except 'Window*' --except Font
              defaultsctl roam add 'org.example.*'
              defaultsctl roam add org.example.Secret --except '*'

            The most specific rule of a domain wins: its own, otherwise that of the longest pattern, \
            otherwise that of *. So the last example excludes a domain that a pattern includes. \
            Window* means all keys that begin with Window.
            """)

    @Argument(help: "A domain; org.example.* for all domains below it; * for all others.")
    var domains: [String]

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Only this key roams. Can be given several times.", valueName: "key"))
    var only: [String] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "This key does not roam. Can be given several times.", valueName: "key"))
    var except: [String] = []

    @OptionGroup var change: ChangeOptions

    func check() throws {
        for domain in try domains.domainNames() {
            guard RoamChoice.isName(domain) else { throw ToolError.noRoamingName(domain) }
            guard !RoamTerms.never.contains(domain) else { throw ToolError.neverRoams(domain) }
        }
    }

    func run(with defaults: RemoteDefaults) async throws {
        let rule = RoamChoice.Rule(only: only.isEmpty ? nil : only, except: except)
        let before = try await defaults.status().generation
        var transaction = DefaultsTransaction()
        for domain in Set(try domains.domainNames()) {
            transaction.set(domain, to: try rule.archive())
        }
        let after = try await defaults.apply(transaction, in: RoamTerms.domain)
        try await change.finish(after > before, on: defaults)
    }
}

struct RoamDrop: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop",
        abstract: "Stops domains from roaming, on all machines.",
        discussion: """
            It removes the rule that 'add' made, and overrides that of a vendor. Each machine keeps \
            the values that it has. To exclude a domain that a pattern includes: defaultsctl roam \
            add DOMAIN --except '*'
            """)

    @Argument(help: "Domains, as they were added.")
    var domains: [String]

    @OptionGroup var change: ChangeOptions

    func check() throws {
        for domain in try domains.domainNames() where !RoamChoice.isName(domain) {
            throw ToolError.noRoamingName(domain)
        }
    }

    func run(with defaults: RemoteDefaults) async throws {
        let own = Set(try await defaults.keys(in: RoamTerms.domain))
        let proposed = Set(
            try await defaults.keys(in: LayerName.system.spelling(of: RoamTerms.domain)))
        var transaction = DefaultsTransaction()
        for domain in Set(try domains.domainNames()) {
            if proposed.contains(domain) {
                transaction.set(domain, to: try RoamChoice.Rule.nothing.archive())
            } else if own.contains(domain) {
                transaction.remove(domain)
            } else {
                throw ToolError.doesNotRoam(domain)
            }
        }
        try await defaults.apply(transaction, in: RoamTerms.domain)
        try await change.finish(true, on: defaults)
    }
}
