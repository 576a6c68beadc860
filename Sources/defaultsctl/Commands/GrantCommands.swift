import ArgumentParser
import DefaultsClient
import DefaultsProtocol
import DefaultsTerms

struct Grant: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "grant",
        abstract: "Lets a program in a sandbox use more domains.",
        discussion: """
              defaultsctl grant org.example.App read 'org.gnome.desktop.*'

            A Flatpak or a snap can use the domains that are its application ID or begin with it and \
            a dot, and read NSGlobalDomain. This allows more. What it may write, it may also read. \
            A domain with .* after it includes all domains below it, and * is all domains. The \
            application * is every program in a sandbox, and the snap example is snap.example. \
            Grants are values of org.defaultsd.Grants, so an administrator can set and lock them.
            """)

    @OptionGroup var application: GrantedApplication

    @Argument(help: "read or write.")
    var access: GrantTerms.Access

    @Argument(help: ArgumentHelp("The domains.", valueName: "pattern"))
    var patterns: [String]

    @OptionGroup var change: ChangeOptions

    func check() throws {
        try application.check()
        for pattern in try patterns.domainNames() { try ApplicationGrant.check(pattern: pattern) }
    }

    func run(with defaults: RemoteDefaults) async throws {
        let domains = try patterns.domainNames()
        let isChanged = try await defaults.changeGrant(of: application.name) {
            $0.add(domains, for: access)
        }
        try await change.finish(isChanged, on: defaults)
    }
}

struct Revoke: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Takes back what was granted to a program in a sandbox.",
        discussion: """
              defaultsctl revoke org.example.App read 'org.gnome.desktop.*'
              defaultsctl revoke org.example.App

            Without patterns it takes back all of them. The application's own domains stay its own.
            """)

    @OptionGroup var application: GrantedApplication

    @Argument(help: "read or write; without it, both.")
    var access: GrantTerms.Access?

    @Argument(help: ArgumentHelp("The domains, as they were granted.", valueName: "pattern"))
    var patterns: [String] = []

    @OptionGroup var change: ChangeOptions

    func check() throws { try application.check() }

    func run(with defaults: RemoteDefaults) async throws {
        let domains = try patterns.domainNames()
        let isChanged = try await defaults.changeGrant(of: application.name) { grant in
            let before = grant
            grant.remove(domains, for: access)
            guard grant != before else {
                throw ToolError.nothingGranted(application.name, domains)
            }
        }
        try await change.finish(isChanged, on: defaults)
    }
}

struct Grants: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "grants",
        abstract: "Lists what is granted to programs in a sandbox.",
        discussion: """
            Each line has the application, what it may do, the domains, and the layer of the grant. \
            What programs were refused is in the log of the service.
            """)

    @Argument(help: "The application; without it, all of them.")
    var application: String?

    @Flag(help: "Print a JSON array.")
    var json = false

    func check() throws {
        if let application { try ApplicationGrant.check(application: application) }
    }

    func run(with defaults: RemoteDefaults) async throws {
        var rows: [[String]] = []
        var applications = application.map { [$0] } ?? []
        if application == nil { applications = try await defaults.grantedApplications() }
        for name in applications {
            guard let (grant, layer) = try await defaults.grant(of: name) else { continue }
            for access in GrantTerms.Access.allCases {
                for pattern in grant.patterns[access] ?? [] {
                    rows.append([name, access.rawValue, pattern, layer.rawValue])
                }
            }
        }
        guard !json else {
            let objects = try rows.map { row in
                try ShownJSON.object(
                    zip(["application", "access", "domain", "layer"], row).map {
                        ($0, try $1.quoted)
                    })
            }
            return try SafeOutput.print(json: "[\(objects.joined(separator: ","))]")
        }
        var columns = Columns(
            headings: ["application", "access", "domain", "layer"],
            areNumbers: [false, false, false, false])
        columns.rows = rows.map { $0.map(\.onOneLine) }
        for line in columns.lines { try SafeOutput.print(line) }
    }
}

/// The application of a grant.
struct GrantedApplication: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The application ID, such as org.example.App; * is all programs in a sandbox.",
            valueName: "application"))
    var name: String

    func check() throws(ToolError) { try ApplicationGrant.check(application: name) }
}

extension GrantTerms.Access: ExpressibleByArgument {}
