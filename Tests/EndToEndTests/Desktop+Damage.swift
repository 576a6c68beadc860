import TestSupport
import Testing

/// Damage to the database, while no daemon has it.
extension Desktop {
    /// Flips a bit in the stored value of a key; the value is read from the file alone.
    func damage(_ key: String) throws {
        try damageFile(
            by: """
                import sqlite3, sys
                connection = sqlite3.connect(sys.argv[1])
                archive, = connection.execute(
                    "SELECT archive FROM entries WHERE key = ?", (sys.argv[2],)).fetchone()
                data = bytearray(open(sys.argv[1], "rb").read())
                place = data.index(archive)
                connection.close()
                data[place + len(archive) // 2] ^= 1
                with open(sys.argv[1], "r+b") as file:
                    file.write(data)
                """, key)
    }

    /// Fills a third of the pages of the database with zeros, spread evenly, but not the first one.
    func zeroPages() throws {
        try damageFile(
            by: """
                import sqlite3, sys
                connection = sqlite3.connect(sys.argv[1])
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                size, = connection.execute("PRAGMA page_size").fetchone()
                pages, = connection.execute("PRAGMA page_count").fetchone()
                connection.close()
                assert pages > 50, pages
                with open(sys.argv[1], "r+b") as file:
                    for page in range(1, pages, 3):
                        file.seek(page * size)
                        file.write(bytes(size))
                """)
    }

    /// Runs a program in Python with the path of the database.
    func damageFile(by program: String, _ arguments: String...) throws {
        _ = try withoutDaemon {
            try run(["/usr/bin/python3", "-c", program, databasePath] + arguments).requireOutput()
        }
    }
}
