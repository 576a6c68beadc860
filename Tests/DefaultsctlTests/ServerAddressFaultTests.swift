import RoamingTerms
import Testing

/// What of a server's address is refused before it is stored.
@Suite("The address of a server") struct ServerAddressFaultTests {
    @Test(
        "with a secret is refused, however it is written",
        arguments: [
            "host=a password=hunter2", "host=a password = 'hunter2'", "password='un ended",
            "host='a b\\' c'\tPASSWORD=hunter2", "host=a stray password=hunter2",
            "host=a dbname='host=b password=hunter2'", "host=a dbname='postgresql://ada:h@b'",
            "postgresql://ada:hunter2@a/defaults", "postgres://ada:hun/ter2@a/defaults",
            "postgres://ada:hun?ter2@a", "postgresql://:hunter2@a",
            "postgresql://a/defaults?user=ada&p%61ssword=hunter2",
        ])
    func secret(address: String) {
        #expect(ServerAddressFault(of: address) == .secret("password"), "\(address)")
    }

    @Test("names the other secrets that libpq knows")
    func otherSecrets() {
        #expect(
            ServerAddressFault(of: "host=a sslkey=b sslpassword=c") == .secret("sslpassword"))
        #expect(
            ServerAddressFault(of: "postgresql:///d?oauth_client_secret=c")
                == .secret("oauth_client_secret"))
    }

    @Test(
        "without a secret may be stored",
        arguments: [
            "host=a", " host = a  user='a b' dbname=defaults ", "host=a passfile=/home/ada/.pgpass",
            "service=defaults", "host=a,b port=5432,5433", "user='password=x'",
            "postgresql://ada@a:5432/defaults?sslmode=verify-full", "postgresql://[::1]:5432/d",
            "postgres://",
        ])
    func good(address: String) {
        #expect(ServerAddressFault(of: address) == nil, "\(address)")
    }

    @Test(
        "that is none is refused",
        arguments: ["", " ", "defaults.example.org", "host=a b", "host='a", "=a"])
    func unreadable(address: String) {
        #expect(ServerAddressFault(of: address) == .unreadable, "\(address)")
    }
}
