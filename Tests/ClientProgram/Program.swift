import DefaultsClient
import Dispatch
import Glibc

/// The seconds after which a process is ended that does not end by itself: far more than anything takes on
/// a busy machine.
let hangLimit: UInt32 = 1800

/// A program that uses the client library as applications do, in a process of its own, for tests and
/// measurements.
@main struct Program {
    static func main() {
        // Who hangs is ended, and with it the test that waits for it.
        alarm(hangLimit)
        let words = Array(CommandLine.arguments.dropFirst())
        // While the process has one thread: a child of a process with more has only one of them, and waits for
        // what the others would do.
        let child = words.first == "fork-unused" ? Child.fork() : nil
        Task {
            await run(words, child: child)
            exit(0)
        }
        dispatchMain()
    }

    private static func run(_ words: [String], child: pid_t?) async {
        switch words.first {
        case "talk" where words.count >= 2:
            var conversation = Conversation(of: words[1])
            await conversation.go()
        case "leave" where words.count == 4: leave(words[1], words[2], words[3])
        case "fresh" where words.count == 5: await FreshnessCheck(words.dropFirst()).go()
        case "fork" where words.count == 2: Child(of: words[1]).report()
        case "fork-unused" where words.count == 2:
            await Child(of: words[1]).useAfterFork(child ?? 0)
        case "many" where words.count == 3: await ManyDomains(words[1], words[2]).go()
        case "measure" where words.count >= 2: await Measurement(words.dropFirst()).go()
        default: stop("Unknown command, or wrong number of words: \(words)")
        }
    }

    /// The one bus that the test allows; without it the session's, and what stands in for it.
    static let bus: DefaultsBus =
        getenv("CLIENT_BUS").map { .address(String(cString: $0)) } ?? .session

    /// Sets a key and returns, as a small program may.
    private static func leave(_ domain: String, _ key: String, _ number: String) {
        Defaults(domain: domain, on: bus)[.number(key)] = Int(number) ?? 0
    }
}

/// Prints a line, in one piece.
///
/// Not by the C library, whose streams another thread waits for.
func say(_ line: String) {
    write("\(line)\n", to: 1)
}

/// Ends the program with a sentence on standard error.
func stop(_ message: String) -> Never {
    write("\(message)\n", to: 2)
    exit(2)
}

private func write(_ text: String, to file: Int32) {
    let bytes = Array(text.utf8)
    _ = write(file, bytes, bytes.count)
}
