// Changes a database without end, for tests that kill it or take its space away. Each change sets
// two keys, "left" and "right", and one of a hundred others, to the same number, and is told on
// standard output once it is acknowledged: "acknowledged GENERATION NUMBER". A refusal ends the
// run and is told as "refused CODE NUMBER", with the number that "left" then has.
//
// Arguments: the directory of the database, the runtime directory, and perhaps the largest size
// in bytes that the system lets a file of this process have; then nothing is flushed.

import DefaultsModel
import DefaultsStorage
import Glibc

func tell(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    guard write(STDOUT_FILENO, bytes, bytes.count) == bytes.count else { exit(2) }
}

func limitFileSize(to bytes: rlim_t) {
    // Without this the system would end the process instead of failing the write.
    signal(SIGXFSZ, SIG_IGN)
    var limit = rlimit(rlim_cur: bytes, rlim_max: bytes)
    guard setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else { exit(3) }
}

func change(_ number: Int) throws -> ChangeProposal {
    let archive = Array(String(number).utf8)
    return ChangeProposal(
        domain: try Domain(name: "org.example.App", layer: .domain),
        set: try ["left", "right", "key\(number % 100)"].map {
            .init(key: try Key($0), archive: archive)
        },
        origin: ":1.1")
}

func commit(_ number: inout Int, to database: Database, count: Int) throws {
    for _ in 0..<count {
        let change = try database.commit(try change(number))
        tell("acknowledged \(change.generation) \(number)")
        number += 1
    }
}

func value(of key: String, in database: Database) throws -> String {
    let domain = try Domain(name: "org.example.App", layer: .domain)
    let value = try database.value(domain, try Key(key))
    return String(decoding: value?.archive ?? [], as: UTF8.self)
}

// The files that a test looks at must be private by the program's doing, not by the umask's.
umask(0)
let arguments = CommandLine.arguments
let database = try Database(
    at: DatabaseLocation(directory: arguments[1], runtimeDirectory: arguments[2]),
    date: DateSource { time(nil) }
) { _ in }
let largestFile = arguments.count > 3 ? rlim_t(arguments[3]) : nil
if let largestFile { limitFileSize(to: largestFile) }
let writer = try database.makeWriter()
var number = 0
do {
    while true {
        try commit(&number, to: database, count: 50)
        guard largestFile == nil, let batch = database.beginFlush() else { continue }
        // Changes are made during the flush, too.
        async let written: Bool = writer.write(batch)
        try commit(&number, to: database, count: 20)
        _ = try await written
        database.finishFlush(batch, .success(()))
    }
} catch let error as StorageError {
    tell("refused \(error.code) \(try value(of: "left", in: database))")
}
