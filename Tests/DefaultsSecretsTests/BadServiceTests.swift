import DBus
import Foundation
import TestSupport
import TestTiers
import Testing

@testable import DefaultsSecrets

/// Broken environments: no bus, no service, or one that violates the specification.
@Suite(.startsPrograms) struct BadServiceTests {
    @Test(arguments: ["unix:path=/nowhere/bus", "nonsense", ""])
    func `without a bus every call is an error`(_ address: String) async throws {
        let secrets = Secrets(
            domain: "org.example.Game", on: .address(address), timeout: .seconds(3600))
        await expect(.noBus) { try await secrets.value(of: .token) }
        await expect(.noBus) { try await secrets.set("x", for: .token) }
        await expect(.noBus) { try await secrets.reset(.token) }
        await expect(.noBus) { try await secrets.unlock() }
        await expect(.noBus) { _ = try await secrets.isLocked }
        await expect(.noBus) { _ = try await secrets.isSet(.token) }
        secrets[.token] = "x"
        await expect(.noBus) { try await secrets.flush() }
        #expect(secrets[.token] == nil)
    }

    @Test func `without a service every call is an error`() async throws {
        let bus = try PrivateBus()
        let secrets = Secrets(
            domain: "org.example.Game", on: .address(bus.address), timeout: .seconds(3600))
        await expect(.noService) { try await secrets.value(of: .token) }
        await expect(.noService) { try await secrets.set("x", for: .token) }
        await expect(.noService) { _ = try await secrets.isLocked }
    }

    @Test func `a service that cannot be started is an error`() async throws {
        let services = try TemporaryDirectory()
        try services.write(
            "[D-BUS Service]\nName=org.freedesktop.secrets\nExec=/bin/false\n",
            to: "org.freedesktop.secrets.service")
        let bus = try PrivateBus(serviceDirectory: services.path)
        let secrets = Secrets(
            domain: "org.example.Game", on: .address(bus.address), timeout: .seconds(3600))
        await expect(.noService) { try await secrets.value(of: .token) }
    }

    @Test func `a bus that does not greet is waited for only for a limited time`() async throws {
        let silent = try SilentSocket()
        let secrets = Secrets(
            domain: "org.example.Game", on: .address(silent.address),
            timeout: .milliseconds(100))
        await expect(.timedOut) { try await secrets.value(of: .token) }
        withExtendedLifetime(silent) {}
    }

    @Test
    func `a service that does not answer is waited for only for a limited time`() async throws {
        let kept = Kept()
        let service = try await FakeService([FakeService.search { call in kept.keep(call) }])
        await expect(.timedOut) {
            try await service.secrets(timeout: .milliseconds(500)).value(of: .token)
        }
        withExtendedLifetime(kept) {}
    }

    @Test func `a task that is cancelled does not wait for the service`() async throws {
        let (asked, report) = AsyncStream.makeStream(of: Void.self)
        let kept = Kept()
        let service = try await FakeService([
            FakeService.search { call in
                kept.keep(call)
                report.yield()
            }
        ])
        let secrets = service.secrets()
        let reading = Task { try await secrets.value(of: .token) }
        var iterator = asked.makeAsyncIterator()
        await iterator.next()
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
    }

    @Test func `answers of other types than specified are errors`() async throws {
        let service = try await FakeService([
            Method(
                "SearchItems", in: [Argument("attributes", "a{ss}")], out: [Argument("odd", "s")]
            ) { call in try call.reply { try $0.writeString("odd") } }
        ])
        await expect(.badReply) { try await service.secrets().value(of: .token) }
    }

    @Test(arguments: [
        ("org.freedesktop.DBus.Error.AccessDenied", SecretsError.Code.denied),
        ("org.freedesktop.Secret.Error.IsLocked", .locked),
        ("org.freedesktop.Secret.Error.NoSession", .refused),
        ("org.freedesktop.DBus.Error.NotSupported", .refused),
    ])
    func `an error of the service has its kind`(_ name: String, _ code: SecretsError.Code)
        async throws
    {
        let error = DBusError(try ErrorName(name), "No.")
        let service = try await FakeService([FakeService.search { call in call.fail(error) }])
        let thrown = await expect(code) { try await service.secrets().value(of: .token) }
        #expect(thrown?.cause == error)
        #expect(thrown?.domain == "org.example.Game")
    }

    @Test func `a keyring that stays locked without a prompt is an error`() async throws {
        let service = try await FakeService([
            FakeService.findsLocked, FakeService.unlock(prompt: "/"),
        ])
        await expect(.locked) { try await service.secrets().value(of: .token) }
    }

    @Test(arguments: [Value.string("odd"), .array(of: "s", []), .array(of: "o", [])])
    func `a prompt without a result is an error`(_ result: Value) async throws {
        let service = try await FakeService([
            FakeService.findsLocked, FakeService.unlock(prompt: "/prompt"),
        ]) { connection in
            try await connection.complete(result)
        }
        let code: SecretsError.Code = result == .array(of: "o", []) ? .locked : .badReply
        await expect(code) { try await service.secrets().value(of: .token) }
    }

    @Test func `a service that ends during a prompt is an error`() async throws {
        let service = try await FakeService([
            FakeService.findsLocked, FakeService.unlock(prompt: "/prompt"),
        ]) { connection in
            await connection.close()
        }
        await expect(.noService) { try await service.secrets().value(of: .token) }
    }

    @Test func `a bus that ends during a prompt is an error`() async throws {
        let (asked, report) = AsyncStream.makeStream(of: Void.self)
        let service = try await FakeService([
            FakeService.findsLocked, FakeService.unlock(prompt: "/prompt"),
        ]) { _ in
            report.yield()
        }
        let secrets = service.secrets()
        let reading = Task { try await secrets.value(of: .token) }
        var iterator = asked.makeAsyncIterator()
        await iterator.next()
        service.bus.stop()
        await expect(.noBus) { _ = try await reading.value }
    }

    @Test func `a task that is cancelled dismisses its prompt`() async throws {
        let (asked, report) = AsyncStream.makeStream(of: Void.self)
        let service = try await FakeService([
            FakeService.findsLocked, FakeService.unlock(prompt: "/prompt"),
        ]) { _ in
            report.yield()
        }
        let secrets = service.secrets()
        let reading = Task { try await secrets.value(of: .token) }
        var iterator = asked.makeAsyncIterator()
        await iterator.next()
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
        var dismissals = service.dismissals.makeAsyncIterator()
        await dismissals.next()
    }

    @Test func `tasks that wait while the user refuses do not prompt again`() async throws {
        let (asked, report) = AsyncStream.makeStream(of: Void.self)
        let service = try await FakeService([
            FakeService.findsLocked, FakeService.unlock(prompt: "/prompt"),
        ]) { _ in
            report.yield()
        }
        let vault = KeyringVault(on: .address(service.bus.address), timeout: .seconds(3600))
        let secrets = Secrets(store: SecretStore(domain: "org.example.Game", vault: vault))
        let first = Task { try await secrets.value(of: .token) }
        var iterator = asked.makeAsyncIterator()
        await iterator.next()
        let second = Task { try await secrets.value(of: .password) }
        while vault.prompts.count == 0 { await Task.yield() }
        try await service.connection.complete(.string(""), dismissed: true)
        await expect(.dismissed) { _ = try await first.value }
        await expect(.dismissed) { _ = try await second.value }
    }
}

/// Calls that are never answered; they belong to the loop's thread, on which they are kept and let
/// go of.
final class Kept: @unchecked Sendable {
    private var calls: [MethodCall] = []

    func keep(_ call: sending MethodCall) { calls.append(call) }
}
