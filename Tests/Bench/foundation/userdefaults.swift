import Foundation

// userdefaults: what Foundation's UserDefaults costs a program.
//
// usage: userdefaults read|write COUNT
//
// A read is printed as the mean of 1 000. A write is what it takes the caller, and foundation-synced until
// synchronize() has returned.

let count = Int(CommandLine.arguments[2]) ?? 1000
let defaults = UserDefaults.standard
let clock = ContinuousClock()

func tell(_ kind: String, _ time: Duration, of count: Int) {
    let (seconds, attoseconds) = time.components
    let microseconds = Double(seconds) * 1e6 + Double(attoseconds) / 1e12
    print(kind, microseconds / Double(count))
}

if CommandLine.arguments[1] == "read" {
    defaults.set(true, forKey: "Flag")
    let reads = 1000
    for _ in 0..<count / reads {
        var seen = 0
        let time = clock.measure {
            for _ in 0..<reads where defaults.bool(forKey: "Flag") { seen += 1 }
        }
        precondition(seen == reads)
        tell("foundation-read", time, of: reads)
    }
} else {
    let began = clock.now
    for number in 0..<count { defaults.set(number, forKey: "Count") }
    tell("foundation-write", clock.now - began, of: count)
    _ = defaults.synchronize()
    tell("foundation-synced", clock.now - began, of: count)
}
