import DefaultsModel
import Foundation
import SystemCalls
import TestSupport
import Testing

@testable import DefaultsStorage

/// A home that cannot be written, and a disk that does not answer.
@Suite(
    .serialized, .enabled(if: ReadOnlyMount.isAvailable, "only root may mount a directory"))
struct UnwritableStoreTests {
    private let scratch: Scratch
    private var config: String { "\(scratch.root)/config" }

    init() throws {
        scratch = try Scratch()
        try FileManager.default.createDirectory(
            atPath: config, withIntermediateDirectories: false)
    }

    private func flush(_ database: Database, by writer: DurableWriter) async throws {
        let batch = try #require(database.beginFlush())
        do {
            try await writer.write(batch)
            database.finishFlush(batch, .success(()))
        } catch {
            database.finishFlush(batch, .failure(error))
            throw error
        }
    }

    @Test("A repair is put off while no file can be made, and the writer goes on")
    func repairPutOff() async throws {
        let database = try scratch.open()
        let writer = try database.makeWriter()
        try database.set(["early": [1]])
        try await flush(database, by: writer)
        var mount: ReadOnlyMount? = try ReadOnlyMount(over: config)
        let error = await #expect(throws: StorageError.self) {
            _ = try await writer.repair(database.identification, because: "A test.")
        }
        #expect(error?.code == .diskUnusable)
        #expect(error?.description.contains("Read-only file system") == true)
        #expect(try database.keys() == ["early"])
        withExtendedLifetime(mount) {}
        mount = nil
        #expect(!database.needsFlush)
        database.doubtDisk(because: .noHome())
        #expect(database.needsFlush)
        try await flush(database, by: writer)
        #expect(!database.needsFlush)
        _ = try await writer.repair(database.identification, because: "A test.")
    }
}
