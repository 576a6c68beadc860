/// How machines hear of each other's changes.
enum Waiting: String, CaseIterable {
    /// The server announces changes.
    case listen
    /// Machines ask over a connection of their own.
    case poll
    /// Machines ask through a pooler.
    case pool
}

/// What is simulated.
struct FleetOptions {
    var users = 100
    /// How many machines a user has.
    var machines = 2
    /// How many keys a user has at first.
    var keys = 300
    /// How long machines only ask, and how long they also make edits.
    var seconds = 6.0
    /// How often a machine asks, in seconds.
    var interval = 2.0
    /// How many edits a user makes on a day.
    var edits = 50.0
    /// How many times faster than that they come here.
    var speed = 200.0
    /// How often something is repeated whose cost is measured alone.
    var rounds = 200
    /// How many sessions the pooler has at the server.
    var sessions = 4
    /// Decides when machines ask and make edits, and which.
    var seed = 1
    /// Settings of the server, as `name=value`.
    var settings: [String] = []
    /// The ways of waiting, one after the other.
    var waiting = Waiting.allCases

    var machineCount: Int { users * machines }
    /// How many edits all users make within the time.
    var editCount: Int { Int(edits * Double(users) / 86400 * speed * seconds) }

    init() {}

    /// Reads the command line.
    ///
    /// - Throws: ``FleetError``.
    init(_ arguments: some Sequence<String>) throws {
        var words = Array(arguments)[...]
        while let word = words.popFirst() {
            guard let value = words.popFirst() else { throw FleetError("\(word) needs a value") }
            switch word {
            case "--users": users = try Self.number(value, of: word)
            case "--machines": machines = try Self.number(value, of: word)
            case "--keys": keys = try Self.number(value, of: word)
            case "--rounds": rounds = try Self.number(value, of: word)
            case "--sessions": sessions = try Self.number(value, of: word)
            case "--seed": seed = try Self.number(value, of: word)
            case "--seconds": seconds = try Self.amount(value, of: word)
            case "--interval": interval = try Self.amount(value, of: word)
            case "--edits": edits = try Self.amount(value, of: word)
            case "--speed": speed = try Self.amount(value, of: word)
            case "--setting": settings.append(value)
            case "--waiting": waiting = try Self.waiting(value)
            default: throw FleetError("unknown option '\(word)'; \(Self.usage)")
            }
        }
    }

    static let usage = """
        usage: RoamFleet [--waiting listen,poll,pool] [--users N] [--machines N] [--keys N]
            [--seconds S] [--interval S] [--edits N] [--speed N] [--rounds N] [--sessions N]
            [--seed N] [--setting NAME=VALUE]...
        """

    private static func number(_ text: String, of option: String) throws -> Int {
        guard let number = Int(text), number > 0 else {
            throw FleetError("\(option) needs a positive number, and not '\(text)'")
        }
        return number
    }

    private static func amount(_ text: String, of option: String) throws -> Double {
        guard let amount = Double(text), amount > 0, amount < 1e9 else {
            throw FleetError("\(option) needs a positive number, and not '\(text)'")
        }
        return amount
    }

    private static func waiting(_ text: String) throws -> [Waiting] {
        try text.split(separator: ",").map { word in
            guard let waiting = Waiting(rawValue: String(word)) else {
                throw FleetError("--waiting has listen, poll and pool, and not '\(word)'")
            }
            return waiting
        }
    }
}

/// Why there is nothing to measure.
struct FleetError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
