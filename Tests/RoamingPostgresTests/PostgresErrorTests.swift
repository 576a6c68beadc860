import Testing

@testable import Postgres

@Suite struct PostgresErrorTests {
    @Test(arguments: [
        ("", ""), ("refused\n", "refused"),
        (
            "no server: refused\n\tIs it running?\n",
            "no server: refused; Is it running?"
        ),
        (
            "server closed the connection\n\tThis means it ended\n\tbefore  the request.\n",
            "server closed the connection; This means it ended before the request"
        ),
        ("first.\nsecond", "first; second"),
    ])
    func `The library's messages become one line without a full stop`(
        _ message: String, _ line: String
    ) {
        #expect(PostgresError.line(message) == line)
    }
}
