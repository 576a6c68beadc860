import DefaultsModel
import DefaultsProtocol
import Glibc
import Synchronization
import SystemCalls

@testable import DBus

/// A program that is connected to a service under test.
struct TestCaller: Sendable {
    /// Who it is, as far as the service knows.
    enum Kind {
        /// A program of the user, outside of a sandbox.
        case own
        /// An application in a sandbox, by its ID.
        case application(String)
        /// A program of another user.
        case stranger
        /// One that has left before it was known who it is.
        case unknown
    }

    /// What has come from the service.
    enum Event: Equatable {
        /// A reply, by the name of the method.
        case reply(String)
        /// An error in place of a reply.
        case refusal(String)
        /// `Changed`, or `ChangedValues` with the keys whose values it has.
        case changed(ChangedSignal, values: [String])
        /// Another signal, by its name.
        case signal(String)
    }

    /// The name that its changes have as their origin.
    let name: String
    let connection: Connection
    let stage: Stage
    private let record = Record()

    private final class Record: Sendable {
        let events = Mutex<[Event]>([])
        let changesWithValues = Mutex<[ChangedValuesSignal]>([])
        /// Whether the program reads nothing.
        let isDeaf = Atomic(false)

        func append(_ event: Event) { events.withLock { $0.append(event) } }
    }

    /// Connects to the service at the other end of a socket.
    init(calling socket: FileDescriptor, as name: String, on stage: Stage) async throws {
        self.name = name
        self.stage = stage
        let loop = stage.loop
        let connection = try await loop.run { try Connection(calling: socket, on: loop) }
        self.connection = connection
        stage.add(connection)
        try await loop.run { [record] in
            try connection.assumeIsolated { connection in
                try connection.onSignal(MatchRule(path: Contract.objectPath)) { signal in
                    record.append(Event(signal))
                    guard let change = try? ChangedValuesSignal(signal) else { return }
                    record.changesWithValues.withLock { $0.append(change) }
                }
            }
        }
        await stage.settle()
    }

    /// Replies and signals in the order in which they came.
    var events: [Event] { record.events.withLock { $0 } }

    /// The signals about changes that have come.
    var changes: [ChangedSignal] {
        events.compactMap { if case .changed(let signal, _) = $0 { signal } else { nil } }
    }

    /// The signals about changes that have come with values.
    var changesWithValues: [ChangedValuesSignal] { record.changesWithValues.withLock { $0 } }

    /// Forgets the events that have come.
    func forgetEvents() {
        record.events.withLock { $0 = [] }
        record.changesWithValues.withLock { $0 = [] }
    }

    /// Makes a call, and does everything that can be done without the clock.
    ///
    /// The reply may need time, or the disk.
    func send<C: Call>(_ call: C.Type, _ arguments: C.Arguments) async throws -> Pending<C.Reply> {
        try await send(
            C.method.name, of: C.method.interface, replying: C.method.outputSignature,
            write: { try C.writeArguments(arguments, to: &$0) },
            read: { try C.readReply(from: &$0) })
    }

    /// Makes a call of which this program knows nothing.
    ///
    /// - Returns: All values of the reply.
    @discardableResult
    func ask(
        _ method: MemberName, _ arguments: [Value] = [],
        of interface: InterfaceName = Contract.interface, at path: ObjectPath = Contract.objectPath
    ) async throws -> [Value] {
        try await send(
            method, of: interface, at: path, write: { try $0.writeValues(arguments) },
            read: { try $0.readValues() }
        ).get()
    }

    private func send<Reply>(
        _ method: MemberName, of interface: InterfaceName,
        at path: ObjectPath = Contract.objectPath, replying signature: Signature? = nil,
        write: @escaping @Sendable (inout MessageWriter) throws -> Void,
        read: @escaping @Sendable (inout MessageReader) throws -> Reply
    ) async throws -> Pending<Reply> {
        guard !stage.hasEnded else { throw ServiceHasEnded() }
        let name = method.string
        let number = stage.noteCall(of: name)
        let pending = Pending<Reply>(name)
        try await stage.loop.run { [connection, stage, record] in
            connection.assumeIsolated { connection in
                connection.call(
                    Contract.busName, path, interface, method, timeout: nil,
                    replying: signature, write: write, read: read
                ) { outcome in
                    stage.noteAnswer(to: number)
                    if case .success = outcome {
                        record.append(.reply(name))
                    } else {
                        record.append(.refusal(name))
                    }
                    pending.end(with: outcome.mapError { ContractError.refusal(in: $0) })
                }
                // A connection that waits for a reply would read.
                if record.isDeaf.load(ordering: .relaxed) { connection.link.setPaused(true) }
            }
        }
        await stage.settle()
        return pending
    }

    /// Stops reading, or reads what has come meanwhile.
    func setDeaf(_ isDeaf: Bool) async throws {
        try await stage.loop.run { [connection, record] in
            record.isDeaf.store(isDeaf, ordering: .relaxed)
            connection.assumeIsolated { $0.link.setPaused(isDeaf) }
        }
        await stage.settle()
    }

    /// Makes a call that needs neither time nor a disk that is held.
    ///
    /// - Throws: The error that the service replied, or ``Unanswered``.
    @discardableResult
    func call<C: Call>(_ call: C.Type, _ arguments: C.Arguments) async throws -> C.Reply {
        try await send(call, arguments).get()
    }
}

extension TestCaller {
    /// The process of a caller.
    ///
    /// - Parameter number: Which of the callers it is. Each is a process of its own, above the numbers
    ///   that Linux gives to processes.
    fileprivate static func process(_ number: UInt32) -> UInt32 { 5_000_000 + number }

    /// The program that makes the changes of a caller with a name.
    static func program(named name: String) -> WriteRates.Program {
        name.split(separator: ".").last.flatMap { UInt32($0) }.map { .process(process($0)) }
            ?? .connection(name)
    }
}

extension TestCaller.Kind {
    /// What the bus or the kernel would say.
    ///
    /// - Parameter number: Which of the callers it is.
    func credentials(_ number: UInt32) -> PeerCredentials? {
        let (user, process) = (geteuid(), TestCaller.process(number))
        return switch self {
        case .own: PeerCredentials(userID: user, processID: process, place: .own)
        case .application(let id):
            PeerCredentials(userID: user, processID: process, flatpak: id)
        case .stranger: PeerCredentials(userID: user + 1, processID: process, place: .own)
        case .unknown: nil
        }
    }
}

extension TestCaller.Event {
    fileprivate init(_ signal: Signal) {
        if signal.member == ChangedSignal.declaration.name, let change = try? ChangedSignal(signal)
        {
            self = .changed(change, values: [])
        } else if signal.member == ChangedValuesSignal.declaration.name,
            let change = try? ChangedValuesSignal(signal)
        {
            self = .changed(change.change, values: change.changed.map(\.key))
        } else {
            self = .signal(signal.member.string)
        }
    }
}

/// A call that was made.
final class Pending<Reply: Sendable>: Sendable {
    private let method: String
    private let outcome = Mutex<Result<Reply, any Error>?>(nil)

    init(_ method: String) {
        self.method = method
    }

    func end(with outcome: Result<Reply, any Error>) {
        self.outcome.withLock { $0 = outcome }
    }

    var isAnswered: Bool { outcome.withLock { $0 != nil } }

    /// The reply.
    ///
    /// - Throws: The error that the service replied, or ``Unanswered``.
    @discardableResult
    func get() throws -> Reply {
        guard let outcome = outcome.withLock({ $0 }) else { throw Unanswered(method: method) }
        return try outcome.get()
    }
}

/// A call has no answer, and will have none without time or the disk.
struct Unanswered: Error {
    let method: String
}

/// The process of the service has ended.
struct ServiceHasEnded: Error {}
