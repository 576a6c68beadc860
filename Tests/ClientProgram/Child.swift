import DefaultsClient
import Glibc

/// What defaults are to a process that was forked from one that used them.
struct Child {
    private let defaults: Defaults

    init(of domain: String) {
        defaults = Defaults(domain: domain)
    }

    /// Uses the defaults, forks, and prints what the child has; ends as the child does.
    func report() {
        let parent = defaults[.count]
        say("parent \(parent)")
        // A call that never returns is a fault, and ends the child.
        let child = Self.fork()
        guard child == 0 else {
            var status: Int32 = 0
            waitpid(child, &status, 0)
            say("child ended with \(status)")
            say("parent \(defaults[.count])")
            return
        }
        alarm(hangLimit)
        tell()
        _exit(0)
    }

    /// Uses the defaults, which were not used before the fork, in the parent and in the child.
    ///
    /// - Parameter child: What ``fork()`` has returned.
    func useAfterFork(_ child: pid_t) async {
        if child != 0 {
            var status: Int32 = 0
            waitpid(child, &status, 0)
            say("child ended with \(status)")
        } else {
            alarm(hangLimit)
        }
        do {
            let count = try await defaults.update(.count) { $0 += 1 }
            say("\(child == 0 ? "child" : "parent") \(count)")
        } catch {
            say("\(error)")
        }
        if child == 0 { exit(0) }
    }

    private func tell() {
        say("read \(defaults[.count])")
        defaults[.count] = 7
        defaults[.count] = 8
        say("read \(defaults[.count])")
        for (name, body) in [
            ("value", { _ = try defaults.value(of: .count) }),
            ("set", { try defaults.set(9, for: .count) }),
        ] as [(String, () throws -> Void)] {
            do {
                try body()
                say("\(name) nothing")
            } catch {
                say("\(name) \((error as? DefaultsError)?.code == .forked ? "forked" : "\(error)")")
            }
        }
        defaults.reset(.count)
        defaults.apply { $0[.count] = 3 }
        defaults.register { $0[.count] = 4 }
        say("others \(defaults.isSet(.count)) \(defaults.isLocked(.count)) \(defaults.keys())")
        _ = defaults.changes(of: .count)
        say("new \(Defaults(domain: "org.example.OfTheChild")[.count])")
        if case .unreachable = defaults.state { say("unreachable") }
    }

    /// The system's `fork`, which Swift hides as few programs can go on after it.
    static func fork() -> pid_t {
        guard let symbol = dlsym(UnsafeMutableRawPointer(bitPattern: 0), "fork") else {
            stop("There is no fork.")
        }
        return unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)()
    }
}
