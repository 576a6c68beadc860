/// What was measured with one way of waiting.
///
/// One task changes it, while no others read it (`@unchecked Sendable`).
final class Stage: @unchecked Sendable {
    let waiting: Waiting
    let samples = Samples()
    private let server: ServerMeter
    private let pooler: ServerMeter?

    /// What the server and the pooler do while machines only ask.
    struct Idle {
        let pollsPerSecond: Double
        /// Processors of the server.
        let server: Double
        /// Processors of the pooler.
        let pooler: Double
        /// By how many seconds the machines were behind at the end.
        let lateness: Double
    }

    var idle: Idle?
    var machines = 0
    /// The bytes of memory that the server, or the pooler, needs for one machine.
    var machineMemory = 0.0
    /// The bytes of memory that all processes have at the end, without the shared buffers.
    var memory = 0.0
    /// The bytes of WAL for an edit whose pages were not changed since a checkpoint.
    var firstWAL = 0.0
    /// The bytes of WAL for another one.
    var laterWAL = 0.0
    /// How many batches were pushed.
    var pushes = 0
    var losers = 0
    /// How many users have machines that differ at the end.
    var differing = 0

    init(_ waiting: Waiting, server: ServerMeter, pooler: ServerMeter?) {
        self.waiting = waiting
        self.server = server
        self.pooler = pooler
    }

    /// The memory in bytes of what machines are connected to; the sessions of a pooler are always few.
    var clientMemory: Double { (pooler ?? server).memory }

    /// The memory in bytes of all processes.
    var wholeMemory: Double { server.memory + (pooler?.memory ?? 0) }

    /// What the processors do for something, in seconds.
    func costs(
        of body: () async throws -> Void
    ) async throws -> (server: Double, pooler: Double) {
        let before = (server.processorTime, pooler?.processorTime ?? 0)
        try await body()
        return (server.processorTime - before.0, (pooler?.processorTime ?? 0) - before.1)
    }

    /// Notes what the processors do for a number of operations.
    func metering<Value>(
        _ operation: Operation, count: Int, _ body: () async throws -> Value
    ) async throws -> Value {
        var value: Value?
        let costs = try await costs { value = try await body() }
        samples.add(operation, server: costs.server, pooler: costs.pooler, count: count)
        guard let value else { throw FleetError("nothing was measured") }
        return value
    }
}
