import DBus
import DefaultsClient
import Glibc

// A program that uses the client library as applications do, for tests and measurements in other
// processes: ClientProgram COMMAND DOMAIN …

extension DefaultsKeys {
    static let flag = DefaultsKey("Flag", default: false)
    static let count = DefaultsKey("Count", default: 0)
}

setlinebuf(fdopen(1, "w"))
let arguments = CommandLine.arguments
let defaults = Defaults(domain: arguments[2], arguments: [])
switch arguments[1] {
case "count":
    print(defaults[.count], defaults.state)
case "set-count":
    defaults[.count] = Int(arguments[3])!
case "bench":
    let clock = ContinuousClock()
    defaults[.flag] = true
    print(defaults[.flag], defaults.state)
    for _ in 0..<3 {
        var sum = 0
        let n = 1_000_000
        let t = clock.measure { for _ in 0..<n where defaults[.flag] { sum += 1 } }
        print("read", t / n, sum)
        let t2 = clock.measure { for i in 0..<20000 { defaults[.count] = i } }
        print("write", t2 / 20000)
        let t3 = try await clock.measure { try await defaults.flush() }
        print("flush", t3)
    }
case "watch":
    for await change in defaults.changes(of: .count) { print(change); fflush(nil) }
default: print("?")
}
