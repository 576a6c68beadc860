/// The callers of a connection, by their names.
///
/// A unique name is never given to another connection, so nothing has to be watched: callers that have
/// left are forgotten when the table has grown.
struct CallerTable<Call> {
    private var callers: [BusName: Caller<Call>] = [:]
    /// By their numbers.
    private var processes: [UInt32: CallerProcess<Call>] = [:]
    private let capacity: Int
    /// At how many callers some are forgotten.
    private var limit: Int
    private var uses: UInt64 = 0
    /// Whether it is time to ask who has left.
    private var isRollCallDue = false

    init(capacity: Int = 1024) {
        (self.capacity, limit) = (capacity, capacity)
    }

    var all: some Collection<Caller<Call>> { callers.values }

    /// The caller of a name; a new one where it is not known.
    mutating func caller(named name: BusName, new: (BusName) -> Caller<Call>) -> Caller<Call> {
        uses &+= 1
        let caller = callers[name] ?? add(new(name), named: name)
        caller.lastUse = uses
        return caller
    }

    /// The process of a number.
    mutating func process(_ number: UInt32) -> CallerProcess<Call> {
        if let process = processes[number] { return process }
        let process = CallerProcess<Call>()
        processes[number] = process
        return process
    }

    private mutating func add(_ caller: Caller<Call>, named name: BusName) -> Caller<Call> {
        if callers.count >= limit { forgetHalf() }
        callers[name] = caller
        return caller
    }

    /// Forgets those that have called least lately, half of all so that it is done seldom, but none
    /// with a call that waits.
    private mutating func forgetHalf() {
        let idle = callers.values.filter(\.isForgettable)
        let oldest = idle.sorted { $0.lastUse < $1.lastUse }.prefix(capacity / 2)
        for name in oldest.compactMap(\.name) { callers[name] = nil }
        noteForgotten()
        isRollCallDue = true
    }

    /// Whether to ask who is connected still, for ``forget(allBut:)``; once.
    mutating func takeRollCall() -> Bool {
        defer { isRollCallDue = false }
        return isRollCallDue
    }

    /// Forgets those that have left.
    ///
    /// - Parameter names: Of all who are connected.
    mutating func forget(allBut names: Set<String>) {
        callers = callers.filter { names.contains($0.key.string) || $0.value.place.hasCalls }
        noteForgotten()
    }

    private mutating func noteForgotten() {
        limit = max(capacity, 2 * callers.count)
        let used = Set(callers.values.map { ObjectIdentifier($0.process) })
        processes = processes.filter { used.contains(ObjectIdentifier($0.value)) }
    }
}
