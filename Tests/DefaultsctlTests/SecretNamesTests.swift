import Testing

@testable import defaultsctl

@Suite("A key looks like a secret") struct SecretNamesTests {
    @Test(
        "by the words in its name, however they are joined",
        arguments: [
            "password", "ProxyPassword", "PASSWD", "clientSecret", "access_token", "apikey",
            "Api_Key", "api-key", "LastCredentials", "PrivateKey", "private key", "private_key",
        ])
    func secret(name: String) {
        #expect(SecretNames.contain(name))
    }

    @Test("not by others", arguments: ["Font", "KeyRepeat", "Privacy", "APIVersion", "Pass"])
    func other(name: String) {
        #expect(!SecretNames.contain(name))
    }

    @Test("and the warning has up to three examples")
    func warning() throws {
        #expect(SecretNames.warning(of: []) == nil)
        #expect(try #require(SecretNames.warning(of: ["a b"])).hasPrefix("a b may be secrets"))
        let many = try #require(SecretNames.warning(of: ["a 1", "a 2", "a 3", "a 4", "a 5"]))
        #expect(many.hasPrefix("a 1, a 2, a 3 and 2 more may be secrets"))
    }
}
