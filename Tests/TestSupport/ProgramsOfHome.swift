import Foundation
import Glibc

/// Kills every program that has a directory as its home, by its environment.
///
/// The bus of a test may have started a service that has done nothing yet, and would make its directories
/// again after the test has removed them.
public func killPrograms(ofHome home: String) {
    let entry = Data("HOME=\(home)".utf8)
    // One that starts another while it is looked for is seen by the next look.
    while true {
        let found = processes(having: entry)
        guard !found.isEmpty else { return }
        for process in found { kill(process, SIGKILL) }
        sched_yield()
    }
}

/// The processes whose environment has an entry; one that has ended and was not waited for has none.
private func processes(having entry: Data) -> [pid_t] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap(pid_t.init).filter { process in
        guard process != getpid(),
            let environment = FileManager.default.contents(atPath: "/proc/\(process)/environ")
        else { return false }
        return environment.split(separator: 0).contains(entry)
    }
}
