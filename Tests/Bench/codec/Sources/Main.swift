import Foundation

/// Measures the codec and Foundation's archiver, which take turns.
///
/// `times` prints the microseconds of each task; `repeat TASK COUNT` carries one out so many times,
/// for whoever counts what it does; `archives FOLDER` writes the archives that are decoded.
@main
enum Main {
    /// How long each task goes on, in nanoseconds.
    private static let shortest = 10_000_000.0

    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        let tasks = try Tasks()
        switch (arguments.first, arguments.count) {
        case ("times", 1):
            try tasks.check()
            for (name, task) in tasks.all {
                print(name, try time(task) / 1000)
            }
        case ("repeat", 3):
            guard let task = tasks.all.first(where: { $0.key == arguments[2] })?.value,
                let count = Int(arguments[3])
            else { throw Failure(description: "There is no such task, or no count.") }
            for _ in 0..<count { try task() }
        case ("archives", 2):
            for (name, data) in tasks.archives {
                try data.write(to: URL(filePath: "\(arguments[2])/\(name).archive"))
            }
        default:
            throw Failure(description: "times, repeat TASK COUNT or archives FOLDER is expected.")
        }
    }

    /// How many nanoseconds a task takes, when it is repeated for a while.
    private static func time(_ task: () throws -> Void) throws -> Double {
        try task()
        var count = 1
        while true {
            let elapsed = try ContinuousClock().measure {
                for _ in 0..<count { try task() }
            }
            let nanoseconds = elapsed / .nanoseconds(1)
            if nanoseconds > shortest { return nanoseconds / Double(count) }
            count *= 2
        }
    }
}
