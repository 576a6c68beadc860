import Postgres
import RoamingPostgres
import Testing

@Suite struct ServerAddressTests {
    private func address(
        _ string: String, _ environment: [String: String] = [:]
    ) throws -> ServerAddress {
        try ServerAddress(string, environment: { environment[$0] })
    }

    @Test(arguments: [
        "host=defaults.example.org", "postgresql://ada@defaults.example.org/defaults",
        "host=192.0.2.7", "host=2001:db8::1", "host=/run/postgresql,defaults.example.org",
        "host=localhost hostaddr=192.0.2.7", "service=defaults", "host=127.evil.example",
        "host=localhost.example.org", "host=1270.0.0.1",
    ])
    func `Another machine must show a certificate`(_ string: String) throws {
        let options = try address(string).options
        #expect(options["sslmode"] == "verify-full")
        #expect(options["gssencmode"] == "disable")
    }

    @Test(arguments: [
        "", "dbname=x", "host=/run/postgresql", "host=localhost", "host=127.0.0.1",
        "host=127.1.2.3",
        "host=::1", "hostaddr=127.0.0.1", "postgresql:///x", "host=@abstract",
        "host=localhost,127.0.0.1",
        "host=db.example.org hostaddr=127.0.0.1",
    ])
    func `This machine needs none`(_ string: String) throws {
        #expect(try address(string).options["sslmode"] == nil)
    }

    @Test(arguments: ["PGHOST", "PGHOSTADDR", "PGSERVICE"])
    func `A host of the environment counts as well`(_ variable: String) throws {
        #expect(
            try address("user=ada", [variable: "db.example.org"]).options["sslmode"]
                == "verify-full")
    }

    @Test(arguments: ["disable", "allow", "prefer", "require", "verify-ca", ""])
    func `Less than full verification is refused`(_ mode: String) throws {
        let error = #expect(throws: ServerAddressError.self) {
            try address("host=db.example.org sslmode='\(mode)'")
        }
        #expect(error?.description.contains("verify-full") == true)
    }

    @Test(arguments: [
        "host=db password=hunter2", "postgresql://ada:hunter2@db/defaults",
        "host=db sslpassword=hunter2", "postgresql://db/?password=hunter2",
    ])
    func `A password is refused and not repeated`(_ string: String) throws {
        let error = #expect(throws: ServerAddressError.self) { try address(string) }
        #expect(error?.description.contains("hunter2") == false)
        #expect(error?.description.contains("~/.pgpass") == true)
    }

    @Test(arguments: [
        "host", "host=x nonsense=y", "postgresql://ada:hunter2@[", "password='hunter2",
    ])
    func `What is no address is refused, without repeating it`(_ string: String) throws {
        let error = #expect(throws: ServerAddressError.self) { try address(string) }
        #expect(error?.description.contains("hunter2") == false)
    }

    @Test(arguments: [
        ("hots=db", "hots"), ("host=db user=ada sslmod=x", "sslmod"),
        ("postgresql://ada@db:5432/x?sslmod=x", "sslmod"),
    ])
    func `An option that does not exist is named`(_ string: String, _ option: String) throws {
        let error = #expect(throws: ServerAddressError.self) { try address(string) }
        #expect(error?.description.hasSuffix("\"\(option)\"") == true)
    }

    @Test(arguments: [
        "host=db passwrod=secret", "host=db pass=a secret=x", "postgresql://ada:a?secret=x@db",
        "postgresql://ada:a@db?secret=x",
    ])
    func `What may be a part of a password is not repeated`(_ string: String) throws {
        let error = #expect(throws: ServerAddressError.self) { try address(string) }
        #expect(error?.description.contains("secret") == false)
        #expect(error?.description.contains("passwrod") == false)
    }

    @Test func `What is not said has a value that fits`() throws {
        let options = try address("host=db.example.org").options
        #expect(options["dbname"] == "defaults")
        #expect(options["target_session_attrs"] == "read-write")
        #expect(try address("service=x").options["dbname"] == nil)
        #expect(try address("dbname=other").options["dbname"] == "other")
        #expect(try address("", ["PGDATABASE": "other"]).options["dbname"] == nil)
        let text = try address("host=db.example.org user=ada sslcert=/home/ada/c").description
        #expect(text == "host=db.example.org dbname=defaults user=ada")
    }
}
