import DefaultsRoaming
import Foundation
import RoamingPostgres
import TestSupport
import TestTiers
import Testing

private let openssl = ProgramResult.run(["openssl", "version"]).status == 0

/// Passwords and certificates, over TLS on loopback, with an authority of the test's own.
@Suite(
    .startsPrograms, .enabled(if: PostgresServer.isAvailable, missing),
    .enabled(if: openssl, "openssl is not installed"))
struct SignInTests {
    private let files: TemporaryDirectory
    private let server: RoamingServer
    private let port: UInt16

    init() async throws {
        files = try TemporaryDirectory()
        chmod(files.path, 0o755)
        try Self.makeAuthority("authority", in: files)
        try Self.makeAuthority("stranger", in: files)
        try Self.makeCertificate("server", for: "localhost", in: files)
        try Self.makeCertificate("ada", for: "ada", in: files)
        let postgres = try Self.start(with: files)
        port = postgres.port
        server = try await RoamingServer(postgres)
    }

    /// Starts a server on loopback, with another port if another program has taken one meanwhile.
    private static func start(with files: TemporaryDirectory) throws -> PostgresServer {
        while true {
            do {
                return try PostgresServer(
                    authentication: [
                        "local all postgres trust",
                        "hostssl all ada all cert",
                        "hostssl all +roam_user all scram-sha-256",
                    ],
                    port: freePort(),
                    options: [
                        "listen_addresses=127.0.0.1", "ssl=on",
                        "ssl_cert_file=\(files.path)/server.crt",
                        "ssl_key_file=\(files.path)/server.key",
                        "ssl_ca_file=\(files.path)/authority.crt",
                    ]
                ) { server in
                    try server.give("\(files.path)/server.key")
                }
            } catch let error as ProgramFailure
                where error.description.contains("could not bind")
            {}
        }
    }

    private static func freePort() throws -> UInt16 {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, size) == 0 && getsockname(socket, $0, &size) == 0
            }
        }
        try #require(result)
        return UInt16(bigEndian: address.sin_port)
    }

    private static func makeAuthority(_ name: String, in files: TemporaryDirectory) throws {
        try ProgramResult.run([
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
            "-nodes",
            "-days", "2", "-subj", "/CN=\(name)", "-keyout", "\(files.path)/\(name).key", "-out",
            "\(files.path)/\(name).crt",
        ]).requireOutput()
    }

    private static func makeCertificate(
        _ name: String, for subject: String, in files: TemporaryDirectory
    ) throws {
        let path = "\(files.path)/\(name)"
        let names = try files.write("subjectAltName=DNS:\(subject)", to: "\(name).ext")
        try ProgramResult.run([
            "openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-subj",
            "/CN=\(subject)", "-keyout", path + ".key", "-out", path + ".csr",
        ]).requireOutput()
        try ProgramResult.run([
            "openssl", "x509", "-req", "-days", "2", "-in", path + ".csr", "-CA",
            "\(files.path)/authority.crt", "-CAkey", "\(files.path)/authority.key",
            "-CAcreateserial",
            "-extfile", names, "-out", path + ".crt",
        ]).requireOutput()
        chmod(path + ".key", 0o600)
    }

    /// A machine that reaches the server by a name, as if it were another one's.
    private func machine(
        _ user: String, host: String = "localhost", authority: String = "authority",
        _ words: String = ""
    ) throws -> TestMachine {
        let address = try ServerAddress(
            "host=\(host) hostaddr=127.0.0.1 port=\(port) user=\(user) sslmode=verify-full "
                + "sslrootcert=\(files.path)/\(authority).crt \(words)")
        return TestMachine(.random(), PostgresEngine(at: address, on: server.loop.loop))
    }

    private func addUser(_ name: String) async throws {
        try await ServerSetup.addUser(name, at: server.postgres.address(), on: server.loop.loop)
    }

    @Test func `Certificates and passwords let users in, and verification keeps false servers out`()
        async throws
    {
        try await addUser("ada")
        try await addUser("ben")
        try server.administer("ALTER ROLE ben PASSWORD 'p1'")
        let passwords = try files.write("*:*:*:ben:p1\n", to: "pgpass")
        let wrong = try files.write("*:*:*:ben:p2\n", to: "wrong")
        for file in [passwords, wrong] { chmod(file, 0o600) }
        let certificate = "sslcert=\(files.path)/ada.crt sslkey=\(files.path)/ada.key"

        let ada = try machine("ada", certificate)
        try await ada.meet()
        try await ada.push(edit("k", "1"))
        let ben = try machine("ben", "passfile=\(passwords) channel_binding=require")
        try await ben.meet()
        try await ben.push(edit("k", "2"))

        try await refuse(
            machine("ben", "passfile=\(wrong)"), .refused, "if the password is wrong, correct it")
        try await refuse(
            machine("ben", "passfile=/nonexistent"), .refused, "put the password into ~/.pgpass")
        // Ada's certificate is not for the other one.
        try await refuse(machine("ben", certificate), .refused, "password")
        try await refuse(machine("ada"), .unreachable, "certificate")
        try await refuse(
            machine("ada", host: "db.example.org", certificate), .unreachable, "db.example.org")
        try await refuse(
            machine("ada", authority: "stranger", certificate), .unreachable,
            "certificate verify failed")
    }

    private func refuse(
        _ machine: TestMachine, _ kind: EngineError.Kind, _ word: String
    ) async throws {
        let error = await #expect(throws: EngineError.self) { try await machine.meet() }
        #expect(error?.kind == kind, "\(error?.description ?? "")")
        #expect(error?.description.contains(word) == true, "\(error?.description ?? "")")
        #expect(error?.description.contains("p2") == false)
    }
}
