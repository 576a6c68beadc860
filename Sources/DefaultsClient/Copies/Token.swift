import Synchronization

/// Names that no other batch has, of this process or another.
enum Token {
    private static let process: String = {
        var generator = SystemRandomNumberGenerator()
        return String(generator.next(), radix: 36) + String(generator.next(), radix: 36)
    }()
    private static let counter = Atomic<UInt64>(0)

    static func next() -> String {
        "\(process).\(counter.add(1, ordering: .relaxed).newValue)"
    }
}
