import DBus
import DefaultsProtocol
import Foundation

/// The files of administrators and vendors.
extension TestService {
    /// The path of a file, such as `managed/a.b.json`.
    func layerFile(_ name: String) -> String { files.layerFile(name) }

    /// Writes a file of an administrator or a vendor, and lets the service take it over.
    func administer(_ name: String, _ text: String) async throws {
        try await changeFiles { try files.writeLayerFile(name, text) }
    }

    /// Removes a file, or a directory with all its files, and lets the service take that over.
    func removeLayerFile(_ name: String) async throws {
        try await changeFiles { try FileManager.default.removeItem(atPath: layerFile(name)) }
    }

    /// Lets the service take over what is done to the files.
    func changeFiles(_ change: () throws -> Void) async throws {
        try change()
        // It hears of the change at this time, and waits from then on.
        await settle()
        // It reads a file that may still be written after half a second.
        await advance(by: .seconds(1))
    }

    /// The problem of a file, as the service lists it; nil if the file is not listed.
    func problem(of file: String, _ caller: TestCaller) async throws -> String? {
        try await caller.call(Contract.ListLayerFiles.self, ()).first { $0.path == file }?.problem
    }

    /// The lines of the log that contain a text.
    func log(containing text: String) -> [String] {
        log.map(\.text).filter { $0.contains(text) }
    }
}
