import CDBus
import DefaultsProtocol
import Glibc
import SystemCalls

@testable import DBus

/// A bus in this process, on the loop of the service, which is its only real connection.
///
/// A test says who else is connected and listens, and when the bus answers. The bus notes who hears what,
/// as a real one would pass it on: a signal with a receiver goes to that connection, and one without to
/// each that has a match rule by then.
actor TestBus {
    /// What the bus is asked, and may be slow to answer.
    enum Question: CaseIterable {
        /// Who listens, or who is connected.
        case listeners
        /// Who a connection is.
        case identities
    }

    /// A connection beside that of the service.
    struct Client {
        let user: UInt32
        /// That of a snap, for an application.
        var label: String?
        var rules: [String] = []
    }

    /// A signal that a connection has got.
    struct Heard: Equatable {
        /// The first argument: the domain, or the channel.
        let subject: String
        let interface: String
        let member: String
        let arguments: [Value]
        /// How many steps the test had noted by then.
        let steps: Int
    }

    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    /// Whether it tells who has which match rules.
    private let showsRules: Bool
    /// Whether the answer says what is so when it is given, or what was so when it was asked.
    private let answersLate: Bool
    private var connection: Connection?
    private var clients: [String: Client] = [:]
    private var held: Set<Question> = []
    private var waiting: [Question: [() throws -> Void]] = [:]
    private var steps = 0
    private var signals: [String: [Heard]] = [:]

    init(showingRules showsRules: Bool, answeringLate answersLate: Bool, on loop: EventLoop) {
        self.showsRules = showsRules
        self.answersLate = answersLate
        self.loop = loop
    }

    /// Connects the service.
    ///
    /// - Returns: Its connection, which is not greeted yet.
    func connect() throws -> Connection {
        let (ours, theirs) = try UnixSocket.pair()
        let bus = try Connection(serving: ours, on: loop)
        let (statistics, names) = (statisticsInterface(), busInterface())
        bus.assumeIsolated { $0.export([names, statistics], at: "/org/freedesktop/DBus") }
        let next = bus.link.receive
        bus.link.receive = { [weak self] message in
            if message.kind == .signal {
                let (heard, receiver) = Self.parts(of: message)
                self?.assumeIsolated { $0.pass(on: heard, to: receiver) }
            }
            next?(message)
        }
        connection = bus
        let place = Place(text: "", socket: nil, server: nil)
        return try Connection(Link(over: theirs, to: place, isDirect: false, on: loop))
    }

    func close() {
        // Calls that wait refer to the connection, and its methods to this bus.
        waiting = [:]
        connection?.assumeIsolated {
            $0.close()
            $0.objects = ObjectTree()
        }
        connection = nil
    }

    // MARK: Who is connected

    func connect(_ name: String, _ client: Client) { clients[name] = client }

    func add(_ rule: String, of name: String) { clients[name]?.rules.append(rule) }

    /// What a connection has heard.
    func heard(by name: String) -> [Heard] { signals[name] ?? [] }

    func noteStep() { steps += 1 }

    private typealias Content = (interface: String, member: String, arguments: [Value])

    private static func parts(of message: borrowing Message) -> (Content, receiver: String?) {
        var reader = MessageReader(message)
        let interface = dbus_message_get_interface(message.pointer).map { String(cString: $0) }
        let member = dbus_message_get_member(message.pointer).map { String(cString: $0) }
        let receiver = dbus_message_get_destination(message.pointer).map { String(cString: $0) }
        let arguments = (try? reader.readValues()) ?? []
        return ((interface ?? "", member ?? "", arguments), receiver)
    }

    private func pass(on signal: Content, to receiver: String?) {
        let subject = if case .string(let first) = signal.arguments.first { first } else { "" }
        let heard = Heard(
            subject: subject, interface: signal.interface, member: signal.member,
            arguments: signal.arguments, steps: steps)
        let receivers =
            receiver.map { [$0] } ?? clients.filter { !$0.value.rules.isEmpty }.map(\.key)
        for receiver in receivers { signals[receiver, default: []].append(heard) }
    }

    /// Reads again what the service sends.
    func goOn() {
        connection?.assumeIsolated { $0.link.setPaused(false) }
    }

    // MARK: What it answers

    /// Keeps answers to a question.
    func hold(_ question: Question) { held.insert(question) }

    /// Answers a question from now on, and what was asked.
    ///
    /// - Parameter isPaused: Whether it reads nothing after that.
    func release(_ question: Question, andPause isPaused: Bool = false) throws {
        held.remove(question)
        for answer in waiting.removeValue(forKey: question) ?? [] { try answer() }
        if isPaused { connection?.assumeIsolated { $0.link.setPaused(true) } }
    }

    private func answer(
        _ call: MethodCall, to question: Question, with facts: @escaping () -> Value?
    ) throws {
        let early = facts()
        let answer = { [answersLate] in
            guard let value = answersLate ? facts() : early else {
                return call.fail(DBusError(.nameHasNoOwner, "It has left."))
            }
            try call.reply { try $0.writeValue(value) }
        }
        guard held.contains(question) else { return try answer() }
        waiting[question, default: []].append(answer)
    }

    private func busInterface() -> Interface {
        Interface(
            "org.freedesktop.DBus",
            methods: [
                Method("Hello", out: [Argument("name", "s")]) { call in
                    try call.reply { try $0.writeString(":1.1") }
                },
                Method("ListNames", out: [Argument("names", "as")]) { call in
                    try self.assumeIsolated { bus in
                        try bus.answer(call, to: .listeners) { bus.names }
                    }
                },
                Method(
                    "GetConnectionCredentials", in: [Argument("name", "s")],
                    out: [Argument("facts", "a{sv}")]
                ) { call in
                    let name = try call.arguments { try $0.readString() }
                    try self.assumeIsolated { bus in
                        let question: Question? = bus.clients[name] == nil ? nil : .identities
                        guard let question else { return call.fail(DBusError.unexplained) }
                        try bus.answer(call, to: question) { bus.credentials(of: name) }
                    }
                },
                Method("NameHasOwner", in: [Argument("name", "s")], out: [Argument("is", "b")]) {
                    try $0.reply { try $0.writeBool(true) }
                },
            ])
    }

    private func statisticsInterface() -> Interface {
        guard showsRules else { return Interface("org.example.Nothing", methods: []) }
        return Interface(
            "org.freedesktop.DBus.Debug.Stats",
            methods: [
                Method("GetStats", out: [Argument("facts", "a{sv}")]) { call in
                    let few = Value.Entry(.string("MatchRules"), .variant(.uint32(1)))
                    try call.reply {
                        try $0.writeValue(.dictionary(key: "s", value: "v", [few]))
                    }
                },
                Method("GetAllMatchRules", out: [Argument("rules", "a{sas}")]) { call in
                    try self.assumeIsolated { bus in
                        try bus.answer(call, to: .listeners) { bus.rules }
                    }
                },
            ])
    }

    private var names: Value {
        .array(of: "s", ([":1.1"] + clients.keys.sorted()).map { .string($0) })
    }

    private var rules: Value {
        .dictionary(
            key: "s", value: "as",
            clients.sorted { $0.key < $1.key }.map { name, client in
                Value.Entry(.string(name), .array(of: "s", client.rules.map { .string($0) }))
            })
    }

    private func credentials(of name: String) -> Value? {
        clients[name].map { client in
            var facts = [
                Value.Entry(.string("UnixUserID"), .variant(.uint32(client.user))),
                // It is outside of a sandbox, as far as its files say.
                Value.Entry(.string("ProcessID"), .variant(.uint32(UInt32(getpid())))),
            ]
            if let label = client.label {
                facts.append(
                    Value.Entry(
                        .string("LinuxSecurityLabel"), .variant(.bytes(Array(label.utf8) + [0]))))
            }
            return .dictionary(key: "s", value: "v", facts)
        }
    }
}
