internal import Glibc
package import Postgres
internal import RoamingTerms

/// Where a server is and how it is reached: a connection string of libpq that was checked.
///
/// The connection is encrypted and the server's certificate is verified, except on this machine. The
/// string has no secrets, because it is a setting that programs read.
package struct ServerAddress: Sendable, CustomStringConvertible {
    /// What libpq is given.
    package let options: ConnectionOptions
    /// The server, for people: without anything that is not needed to find it.
    package let description: String

    /// Checks a connection string.
    ///
    /// - Parameters:
    ///   - string: The string, of keywords or as a URI.
    ///   - environment: What a variable of the environment says; libpq also takes these.
    /// - Throws: ``ServerAddressError``, which does not repeat a secret.
    package init(
        _ string: String,
        environment: (String) -> String? = { getenv($0).map { String(cString: $0) } }
    ) throws(ServerAddressError) {
        var options: ConnectionOptions
        do {
            options = try ConnectionOptions(parsing: string)
        } catch {
            throw ServerAddressError("the address of the server cannot be read: \(error)")
        }
        for secret in ServerAddressFault.secrets.sorted() where options[secret] != nil {
            throw .secret(secret)
        }
        for (keyword, variable) in [
            ("host", "PGHOST"), ("hostaddr", "PGHOSTADDR"), ("service", "PGSERVICE"),
        ] where options[keyword] == nil {
            options[keyword] = environment(variable)
        }
        if !Self.isLocal(options) { try Self.requireVerification(&options) }
        Self.complete(&options, environment)
        self.init(options)
    }

    /// The address of options that were checked.
    init(_ options: ConnectionOptions) {
        self.options = options
        description = Self.describe(options)
    }

    /// Whether all hosts are this machine: sockets and loopback addresses.
    ///
    /// A service file may name any host.
    private static func isLocal(_ options: ConnectionOptions) -> Bool {
        if options["service"] != nil { return false }
        // The address is what libpq connects to, if there is one.
        let hosts = parts(options["host"])
        let addresses = parts(options["hostaddr"])
        return (0..<max(hosts.count, addresses.count)).allSatisfy { index in
            let address = index < addresses.count ? addresses[index] : ""
            let host = index < hosts.count ? hosts[index] : ""
            return isLocal(address.isEmpty ? host : address)
        }
    }

    private static func isLocal(_ host: String) -> Bool {
        if host.isEmpty || host.hasPrefix("/") || host.hasPrefix("@") { return true }
        if ["localhost", "::1"].contains(host) { return true }
        var address = in_addr()
        return inet_pton(AF_INET, host, &address) == 1
            && UInt32(bigEndian: address.s_addr) >> 24 == 127
    }

    private static func parts(_ list: String?) -> [String] {
        list.map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
            ?? []
    }

    private static func requireVerification(
        _ options: inout ConnectionOptions
    ) throws(ServerAddressError) {
        guard options["sslmode"] ?? "verify-full" == "verify-full" else { throw .unverified }
        options["sslmode"] = "verify-full"
        // It takes the place of TLS, where it is possible, and is not what sslmode asks for.
        options["gssencmode"] = "disable"
    }

    private static func complete(
        _ options: inout ConnectionOptions, _ environment: (String) -> String?
    ) {
        if options["service"] == nil, environment("PGDATABASE") == nil {
            options["dbname"] = options["dbname"] ?? "defaults"
        }
        options["client_encoding"] = "UTF8"
        options["fallback_application_name"] = "defaultsd-roam"
        // Of several servers, the one that takes changes.
        options["target_session_attrs"] = options["target_session_attrs"] ?? "read-write"
        options["connect_timeout"] = options["connect_timeout"] ?? "10"
        // A network that goes away without a word is noticed within some minutes.
        options["keepalives_idle"] = options["keepalives_idle"] ?? "120"
        options["tcp_user_timeout"] = options["tcp_user_timeout"] ?? "60000"
    }

    private static func describe(_ options: ConnectionOptions) -> String {
        let words = ["service", "host", "hostaddr", "port", "dbname", "user"]
            .compactMap { keyword in options[keyword].map { "\(keyword)=\($0)" } }
        return words.joined(separator: " ")
    }
}

/// Why a connection string cannot be used.
package struct ServerAddressError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong, and what to do: a sentence.
    package let description: String

    init(_ description: String) {
        self.description = description
    }

    static func secret(_ keyword: String) -> ServerAddressError {
        ServerAddressError(
            "the address of the server must not contain '\(keyword)', because every program of the "
                + "user can read it; put a password into ~/.pgpass, or use a certificate (sslcert and "
                + "sslkey) or Kerberos")
    }

    static let unverified = ServerAddressError(
        "the address of the server says 'sslmode' with less than verify-full, which lets others pass "
            + "for the server; leave it out, and put the certificate of its authority into "
            + "~/.postgresql/root.crt or name it with sslrootcert")
}
