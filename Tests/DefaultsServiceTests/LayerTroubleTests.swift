import DBus
import DefaultsProtocol
import Foundation
import Glibc
import Testing

@testable import ServiceHarness

/// Problems with files of the layers are reported, and do not affect values in force.
@Suite struct LayerTroubleTests {
    private let app = "org.example.App"
    private let file = "managed/org.example.App.json"

    enum Trouble: CaseIterable {
        case directoryIsFile, fileIsPipe, linkLeadsNowhere
    }

    /// Makes the trouble, and keeps what was in its place.
    private func make(_ trouble: Trouble, in service: TestService) throws {
        let (path, directory) = (service.layerFile(file), service.layerFile("managed"))
        let aside = service.layerFile("aside")
        let manager = FileManager.default
        let replaced = trouble == .directoryIsFile ? directory : path
        try manager.moveItem(atPath: replaced, toPath: aside)
        switch trouble {
        case .directoryIsFile: #expect(manager.createFile(atPath: directory, contents: Data()))
        case .fileIsPipe: #expect(mkfifo(path, 0o600) == 0)
        case .linkLeadsNowhere:
            try manager.createSymbolicLink(atPath: path, withDestinationPath: "../nowhere")
        }
    }

    @Test(arguments: Trouble.allCases)
    func `Values in force stay, even over a restart, and end with their cause`(
        trouble: Trouble
    ) async throws {
        try await withService { service in
            try await service.administer(file, #"{"Key": 1, "$locked": ["Other"]}"#)
            try await service.administer("managed/\(app).d/1.json", #"{"Drop": 1}"#)
            try await service.changeFiles { try make(trouble, in: service) }
            let path = service.layerFile(file)
            for _ in 0..<2 {
                let caller = try await service.caller()
                #expect(try await caller.lookUp(app, "Key") == (1, "managed"))
                #expect(try await caller.lookUp(app, "Drop") == (1, "managed"))
                #expect(try await caller.isLocked(app, "Other"))
                #expect(try await service.problem(of: path, caller)?.contains(": It ") == true)
                try await service.restart()
            }
            let lines = service.log(containing: "App.json: It ").filter {
                $0.contains(" stay in force in ")
            }
            #expect(lines.count >= 2)
            try await service.changeFiles {
                let manager = FileManager.default
                let directory = service.layerFile("managed")
                try manager.removeItem(
                    atPath: trouble == .directoryIsFile ? directory : path)
                guard trouble == .directoryIsFile else { return }
                try manager.moveItem(atPath: service.layerFile("aside"), toPath: directory)
            }
            let caller = try await service.caller()
            #expect(try await caller.isLocked(app, "Other") == (trouble == .directoryIsFile))
            #expect(try await caller.lookUp(app, "Drop") == (1, "managed"))
        }
    }

    @Test func `A bad file's last good value comes back when the file that hid it is removed`()
        async throws
    {
        try await withCaller { caller, service in
            try await service.administer(file, #"{"Key": 1}"#)
            try await service.administer("managed/\(app).d/1.json", #"{"Key": 2}"#)
            #expect(try await caller.lookUp(app, "Key") == (2, "managed"))
            try await service.administer(file, "{")
            let path = service.layerFile(file)
            #expect(try await service.problem(of: path, caller)?.contains("\(path):1:") == true)
            try await service.restart()
            try await service.removeLayerFile("managed/\(app).d/1.json")
            let next = try await service.caller()
            #expect(try await next.lookUp(app, "Key") == (1, "managed"))
            #expect(try await next.isLocked(app, "Key"))
        }
    }

    @Test func `A new name for an existing file is reported`() async throws {
        try await withCaller { caller, service in
            try await service.administer(file + ".tmp", #"{"Key": 1}"#)
            let refused = try await refusal { try await caller.lookUp(app, "Key") }
            #expect(refused?.code == .notFound)
            let path = service.layerFile(file)
            // As one installs a file that must not replace another.
            try await service.changeFiles {
                #expect(link(path + ".tmp", path) == 0)
                #expect(unlink(path + ".tmp") == 0)
            }
            #expect(try await caller.lookUp(app, "Key") == (1, "managed"))
        }
    }

    @Test func `Names that look alike are several files, of which a bad one affects no other`()
        async throws
    {
        let names = ["\u{E9}", "e\u{301}"].map { "managed/\(app).d/\($0).json" }
        try await withCaller { caller, service in
            try await service.administer(names[0], "{")
            try await service.administer(names[1], #"{"Key": 1}"#)
            #expect(try await caller.lookUp(app, "Key") == (1, "managed"))
            try await service.administer(names[1], #"{"Key": 2}"#)
            #expect(try await caller.lookUp(app, "Key") == (2, "managed"))
            let listed = try await caller.call(Contract.ListLayerFiles.self, ())
            #expect(listed.count == 2)
            // Strings that look alike are equal to Swift.
            let path = Array(service.layerFile(names[1]).utf8)
            #expect(listed.filter { Array($0.path.utf8) == path }.map(\.problem) == [""])
        }
    }
}
