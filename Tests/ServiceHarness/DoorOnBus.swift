import DBus
import Foundation
import Glibc

@testable import DefaultsService

/// A door of a service on a ``TestBus``, with a program that listens to all its signals.
struct DoorOnBus {
    private static let listener = ":1.7"

    let service: ServiceOnBus
    private let path: ObjectPath
    private let interface: InterfaceName

    /// A program that knows the contract.
    var caller: TestCaller { service.caller }

    static func start(
        _ door: any Door.Type, at path: ObjectPath, _ interface: InterfaceName
    ) async throws -> DoorOnBus {
        let service = try await ServiceOnBus.start(serving: [door])
        let rule = "type='signal',interface='\(interface)'"
        await service.bus.connect(listener, .init(user: geteuid(), rules: [rule]))
        return DoorOnBus(service: service, path: path, interface: interface)
    }

    /// Calls a method of the door.
    @discardableResult
    func call(_ member: MemberName, _ arguments: Value...) async throws -> [Value] {
        try await service.caller.request(path, interface, member, arguments)
    }

    /// The name of the error with which the door refuses a call; nil if it carries it out.
    func refusal(_ member: MemberName, _ arguments: Value...) async throws -> String? {
        do {
            _ = try await service.caller.request(path, interface, member, arguments)
            return nil
        } catch let error as DBusError {
            return error.name.string
        }
    }

    /// The signals of the door so far.
    func signals() async -> [Signal] {
        await service.settle()
        return await service.bus.heard(by: Self.listener)
            .filter { $0.interface == interface.string }
            .map { Signal(member: $0.member, arguments: $0.arguments) }
    }

    /// A signal, by its name and all its arguments.
    struct Signal: Equatable {
        let member: String
        let arguments: [Value]
    }

    /// Writes a file of an administrator or a vendor, such as `vendor/a.b.json`.
    func administer(_ name: String, _ text: String) async throws {
        try await service.changeFiles { try $0.writeLayerFile(name, text) }
    }

    /// Removes a file of an administrator or a vendor.
    func removeFile(_ name: String) async throws {
        try await service.changeFiles {
            try FileManager.default.removeItem(atPath: $0.layerFile(name))
        }
    }
}
