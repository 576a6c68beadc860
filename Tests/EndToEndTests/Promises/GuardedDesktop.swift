import Foundation
import TestSupport

/// A part of a test whose daemon may hang: what asks it is ended after a while.
protocol GuardedDesktop {
    static var app: String { get }
    var desktop: Desktop { get }
}

extension GuardedDesktop {
    func write(_ key: String, _ number: Int) throws {
        try tool("write", Self.app, key, "-int", "\(number)").requireOutput()
    }

    /// What the tool prints for a key; nil if it fails.
    func value(of key: String) -> String? {
        let answer = tool("read", Self.app, key)
        return answer.status == 0 ? answer.output.trimmingCharacters(in: .newlines) : nil
    }

    func tool(_ arguments: String...) -> ProgramResult {
        desktop.run(HangGuard.command + [Desktop.programs + "/defaultsctl"] + arguments)
    }

    /// What the daemon has logged.
    var log: String {
        (try? String(contentsOfFile: desktop.directory.path + "/log", encoding: .utf8)) ?? ""
    }
}
