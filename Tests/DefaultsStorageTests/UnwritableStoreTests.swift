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
    private let files = FileManager.default
    private var config: String { "\(scratch.root)/config" }

    init() throws {
        scratch = try Scratch()
        try files.createDirectory(atPath: config, withIntermediateDirectories: false)
    }

    /// Makes a database with one key on disk.
    private func leave(isClosed: Bool) async throws {
        let database = try scratch.open()
        try database.set(["early": [1]])
        try await database.flush()
        if isClosed { database.close() }
    }

    /// Runs a process on a read-only disk that sets a key, cannot write it, and dies.
    private func change(_ key: String, after earlier: [String]) async throws {
        let database = try scratch.open()
        let writer = try database.makeWriter()
        #expect(try database.keys() == earlier)
        try database.set([.init(stringLiteral: key): [2]])
        #expect(database.needsFlush)
        let error = await #expect(throws: StorageError.self) {
            try await database.flush(by: writer)
        }
        #expect(error?.code == .cannotWrite)
        let text = error?.description ?? ""
        #expect(text.contains("cannot be written") && text.contains("Read-only file system"))
        #expect(database.unwritable?.description == text)
        #expect(try database.keys() == (earlier + [key]).sorted())
        await writer.close()
    }

    private func checkOnDisk(_ keys: [String]) throws {
        let copy = try scratch.copyWithoutRuntime()
        #expect(try copy.open().keys() == keys)
        let names = try files.contentsOfDirectory(atPath: scratch.location.directory)
        #expect(!names.contains { $0.contains(".aside-") || $0.contains(".replaced-") })
    }

    @Test(
        "On a read-only disk a database is read, and its changes live in the journal until it is writable",
        arguments: [true, false])
    func readOnly(isClosed: Bool) async throws {
        try await leave(isClosed: isClosed)
        var mount: ReadOnlyMount? = try ReadOnlyMount(over: config)
        try await change("first", after: ["early"])
        try await change("second", after: ["early", "first"])
        let database = try scratch.open()
        let writer = try database.makeWriter()
        await #expect(throws: StorageError.self) { try await database.flush(by: writer) }
        withExtendedLifetime(mount) {}
        mount = nil
        try await database.flush(by: writer)
        #expect(database.unwritable == nil && !database.needsFlush)
        try database.set(["last": [3]])
        try await database.flush(by: writer)
        await writer.close()
        database.close()
        try checkOnDisk(["early", "first", "last", "second"])
        #expect(scratch.repair == nil)
        #expect(scratch.noticed("can be written now"))
    }

    @Test("A home that cannot be written, and has no database, has one for the session")
    func nothingThere() async throws {
        var mount: ReadOnlyMount? = try ReadOnlyMount(over: config)
        try await change("first", after: [])
        try await change("second", after: ["first"])
        let database = try scratch.open()
        let writer = try database.makeWriter()
        withExtendedLifetime(mount) {}
        mount = nil
        try await database.flush(by: writer)
        #expect(database.unwritable == nil)
        await writer.close()
        database.close()
        try checkOnDisk(["first", "second"])
    }

    @Test("Without a runtime directory a change is refused with the reason, and reads go on")
    func noRuntimeDirectory() async throws {
        try await leave(isClosed: true)
        let location = DatabaseLocation(
            directory: scratch.location.directory, runtimeDirectory: nil)
        var mount: ReadOnlyMount? = try ReadOnlyMount(over: config)
        let database = try Database(at: location, boot: Scratch.boot) { _ in }
        let writer = try database.makeWriter()
        #expect(try database.keys() == ["early"])
        let error = #expect(throws: StorageError.self) { try database.set(["late": [2]]) }
        #expect(error?.code == .cannotJournal)
        let text = error?.description ?? ""
        #expect(text.contains("there is no runtime directory") && text.contains("Read-only"))
        #expect(try database.keys() == ["early"])
        withExtendedLifetime(mount) {}
        mount = nil
        try database.set(["late": [2]])
        try await database.flush(by: writer)
        await writer.close()
        database.close()
        try checkOnDisk(["early", "late"])
    }

    @Test("Two processes do not use one read-only database at once")
    func locked() async throws {
        try await leave(isClosed: true)
        let mount = try ReadOnlyMount(over: config)
        let database = try scratch.open()
        let error = #expect(throws: StorageError.self) { _ = try scratch.open() }
        #expect(error?.code == .inUse)
        database.close()
        #expect(try scratch.open().keys() == ["early"])
        withExtendedLifetime(mount) {}
    }

    @Test("A repair is put off while no file can be made, and the writer goes on")
    func repairPutOff() async throws {
        let database = try scratch.open()
        let writer = try database.makeWriter()
        try database.set(["early": [1]])
        try await database.flush(by: writer)
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
        try await database.flush(by: writer)
        #expect(!database.needsFlush)
        _ = try await writer.repair(database.identification, because: "A test.")
    }
}
