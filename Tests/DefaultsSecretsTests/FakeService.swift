import DBus
import TestSupport

@testable import DefaultsSecrets

/// A service of secrets that answers as no real one does.
final class FakeService: Sendable {
    let bus: PrivateBus
    let connection: Connection
    /// One element for each prompt that was dismissed.
    let dismissals: AsyncStream<Void>
    private let loop: EventLoop

    /// - Parameters:
    ///   - methods: The methods of `org.freedesktop.Secret.Service`, beside an `OpenSession` that
    ///     does what it should.
    ///   - prompt: What the prompt at `/prompt` does when it is to be shown.
    init(
        opensSession: Bool = true, _ methods: [Method],
        prompt: @escaping @Sendable (Connection) async throws -> Void = { _ in }
    ) async throws {
        bus = try PrivateBus()
        loop = try EventLoop.startThread(named: "fake")
        connection = try await Connection.open(.address(bus.address), on: loop)
        let (dismissals, report) = AsyncStream.makeStream(of: Void.self)
        self.dismissals = dismissals
        let opening = Method(
            "OpenSession", in: [Argument("algorithm", "s"), Argument("input", "v")],
            out: [Argument("output", "v"), Argument("session", "o")]
        ) { call in
            try call.reply {
                try $0.writeValue(.variant(.string("")))
                try $0.writeObjectPath("/session")
            }
        }
        let shown = Interface(
            "org.freedesktop.Secret.Prompt",
            methods: [
                Method("Prompt", in: [Argument("window", "s")]) { [weak connection] call in
                    try call.reply()
                    guard let connection else { return }
                    Task { try await prompt(connection) }
                },
                Method("Dismiss") { call in
                    report.yield()
                    try call.reply()
                },
            ],
            signals: [
                SignalDeclaration(
                    "Completed", [Argument("dismissed", "b"), Argument("result", "v")])
            ])
        await connection.export(
            [
                Interface(
                    "org.freedesktop.Secret.Service",
                    methods: (opensSession ? [opening] : []) + methods)
            ], at: "/org/freedesktop/secrets")
        await connection.export([shown], at: "/prompt")
        guard try await connection.requestName("org.freedesktop.secrets") == .primaryOwner else {
            throw DBusError(.failed, "Another one keeps secrets on a bus that is new.")
        }
    }

    deinit {
        loop.stop()
    }

    /// - Parameter timeout: An hour, unless the test is about waiting in vain.
    func secrets(timeout: Duration = .seconds(3600)) -> Secrets {
        let vault = KeyringVault(on: .address(bus.address), timeout: timeout)
        return Secrets(store: SecretStore(domain: "org.example.Game", vault: vault))
    }

    /// A search that finds one item, which is locked.
    static let findsLocked = search { call in
        try call.reply {
            try $0.writeValues([.array(of: "o", []), .array(of: "o", [.objectPath("/item")])])
        }
    }

    static func search(_ answer: @escaping @Sendable (sending MethodCall) throws -> Void) -> Method
    {
        Method(
            "SearchItems", in: [Argument("attributes", "a{ss}")],
            out: [Argument("unlocked", "ao"), Argument("locked", "ao")], handler: answer)
    }

    /// An unlocking that unlocks nothing at once.
    static func unlock(prompt: ObjectPath) -> Method {
        Method(
            "Unlock", in: [Argument("objects", "ao")],
            out: [Argument("unlocked", "ao"), Argument("prompt", "o")]
        ) { call in
            try call.reply {
                try $0.writeValue(.array(of: "o", []))
                try $0.writeObjectPath(prompt)
            }
        }
    }
}

extension Connection {
    /// Ends the prompt with a result.
    func complete(_ result: Value, dismissed: Bool = false) throws {
        try emit("/prompt", "org.freedesktop.Secret.Prompt", "Completed") {
            try $0.writeBool(dismissed)
            try $0.writeValue(.variant(result))
        }
    }
}
