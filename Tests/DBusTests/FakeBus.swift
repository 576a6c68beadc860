import CDBus
import Synchronization
import TestSupport

@testable import DBus

/// A bus with one client, the service, that answers when and what a test says, and calls it in
/// anybody's name.
final class FakeBus: Sendable {
    /// The connection of the service to the bus.
    let service: Connection
    /// The bus's own end.
    let bus: Connection
    /// What the bus was asked about callers, in its order: `credentials :1.7`, `unread :1.7`.
    let questions: AsyncStream<String>
    private let answers: Answers
    private let loops: [EventLoop]

    /// The calls of the service that wait for an answer.
    private actor Answers {
        nonisolated let loop: EventLoop
        nonisolated var unownedExecutor: UnownedSerialExecutor {
            loop.asUnownedSerialExecutor()
        }
        private var kept: [String: [MethodCall]] = [:]

        init(on loop: EventLoop) { self.loop = loop }

        func keep(_ call: sending MethodCall, as question: String) {
            kept[question, default: []].append(call)
        }

        func answer(_ question: String, _ body: @Sendable (MethodCall) throws -> Void) throws {
            guard let call = kept[question]?.removeFirst() else {
                preconditionFailure("Nobody has asked '\(question)'.")
            }
            try body(call)
        }
    }

    /// - Parameter measures: Whether the bus knows what is unread.
    init(measures: Bool = true) async throws {
        let socket = try ListeningSocket()
        let (serviceLoop, busLoop) = (
            try EventLoop.startThread(named: "service"), try EventLoop.startThread(named: "bus")
        )
        async let service = Connection.open(
            .address(socket.address), within: HangGuard.limit, on: serviceLoop)
        let (questions, report) = AsyncStream.makeStream(of: String.self)
        let answers = Answers(on: busLoop)
        bus = try await Connection.open(
            serving: try await socket.accept(), on: busLoop,
            Self.interfaces(answers: answers, report: report, measures: measures),
            at: "/org/freedesktop/DBus")
        self.service = try await service
        // A test answers when it comes to it, however slow the machine is.
        await self.service.setQuestionTimeout(.seconds(3600))
        self.questions = questions
        self.answers = answers
        loops = [serviceLoop, busLoop]
    }

    deinit {
        for loop in loops { loop.stop() }
    }

    private static func interfaces(
        answers: Answers, report: AsyncStream<String>.Continuation, measures: Bool
    ) -> [Interface] {
        func question(_ name: String, _ member: MemberName) -> Method {
            Method(member, in: [Argument("name", "s")], out: [Argument("facts", "a{sv}")]) { call in
                let subject = try call.arguments { try $0.readString() }
                // Of itself it tells nothing.
                guard subject != BusName.bus.string else { return call.fail(DBusError.unexplained) }
                let asked = "\(name) \(subject)"
                answers.assumeIsolated { $0.keep(call, as: asked) }
                report.yield(asked)
            }
        }
        let bus = Interface(
            "org.freedesktop.DBus",
            methods: [
                Method("Hello", out: [Argument("name", "s")]) { call in
                    try call.reply { try $0.writeString(":1.1") }
                },
                question("credentials", "GetConnectionCredentials"),
            ])
        let statistics = Interface(
            "org.freedesktop.DBus.Debug.Stats",
            methods: [question("unread", "GetConnectionStats")])
        return measures ? [bus, statistics] : [bus]
    }

    /// Answers the oldest such question.
    func answer(_ question: String, _ facts: [(String, Value)]) async throws {
        try await answers.answer(question) { call in
            try call.reply {
                try $0.writeValue(
                    .dictionary(
                        key: "s", value: "v",
                        facts.map { Value.Entry(.string($0.0), .variant($0.1)) }))
            }
        }
    }

    func refuse(_ question: String, _ error: ErrorName) async throws {
        try await answers.answer(question) { $0.fail(DBusError(error, "No.")) }
    }

    /// A call that was sent to the service.
    struct Pending: Sendable {
        fileprivate let replies: AsyncThrowingStream<[Value], any Error>

        /// Waits for the reply, once.
        func reply() async throws -> [Value] {
            for try await values in replies { return values }
            throw CancellationError()
        }
    }

    /// Sends a call in somebody's name; it is under way when this returns.
    func send(
        from sender: BusName, _ member: MemberName,
        write body: @Sendable (inout MessageWriter) throws -> Void = { _ in }
    ) async throws -> Pending {
        try await bus.send(from: sender, member, write: body)
    }

    /// Sends a call with a value that nobody is asked about.
    func sendUnchecked(
        _ value: Value, from sender: BusName, _ member: MemberName
    ) async throws -> Pending {
        try await bus.send(from: sender, member, unchecked: value)
    }

    /// Calls the service in somebody's name.
    func call(from sender: BusName, _ member: MemberName) async throws -> [Value] {
        try await send(from: sender, member).reply()
    }

    /// Waits until the service has taken all that it was sent.
    func passAll() async throws {
        // The reply comes after it.
        _ = try await service.call(.bus, "/", "org.freedesktop.DBus.Peer", "Ping")
    }
}

extension Connection {
    fileprivate func setQuestionTimeout(_ timeout: Duration) { callers.questionTimeout = timeout }

    /// Sends a call to the peer in somebody's name, as a bus does.
    fileprivate func send(
        from sender: BusName, _ member: MemberName,
        unchecked value: Value? = nil, write body: (inout MessageWriter) throws -> Void = { _ in }
    ) throws -> FakeBus.Pending {
        let message = try Message.call(":1.1", "/", "a.Service", member)
        try checkMemory(dbus_message_set_sender(message.pointer, sender.string))
        if let value {
            try UncheckedWriter.append(value, to: message)
        } else {
            try MessageWriter.write(to: message, body)
        }
        let serial = try link.send(message)
        let (replies, reply) = AsyncThrowingStream.makeStream(of: [Value].self)
        pendingCalls.add(
            PendingCalls.Waiting(
                number: pendingCalls.makeNumber(), timer: nil,
                succeed: { message in
                    let values = Result { try message.read(as: nil) { try $0.readValues() } }
                    reply.yield(with: values)
                },
                fail: { reply.finish(throwing: $0) }),
            serial: serial)
        return FakeBus.Pending(replies: replies)
    }
}
