import DefaultsRoaming
import Foundation
import RoamingDirectory
import TestSupport

/// Folders of machines that a bad synchroniser keeps the same in the end: it copies files late, in any
/// order, twice, in old versions, and cut in the middle.
final class Synchroniser: @unchecked Sendable {
    /// The file that marks the place, which is never written again.
    private static let marker = "defaultsd-roam"

    private var random: SeededGenerator
    private let place = ReplicaID.random()
    private var folders: [Int: TemporaryDirectory] = [:]
    /// Earlier contents of files.
    private var old: [String: [Data]] = [:]

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    func folder(of machine: Int) throws -> String {
        if let folder = folders[machine] { return folder.path }
        let folder = try TemporaryDirectory()
        folders[machine] = folder
        // The place was made before, by a machine that is gone.
        try Data("defaultsd-roam place \(place)\n".utf8)
            .write(to: URL(filePath: folder.path + "/" + Self.marker))
        return folder.path
    }

    private func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).filter { !$0.hasPrefix(".") }
            .sorted()
    }

    /// Copies one file from one folder to another, perhaps badly.
    func copySomething() throws {
        let all = folders.keys.sorted()
        guard let source = all.randomElement(using: &random),
            let target = all.randomElement(using: &random),
            source != target, let from = folders[source]?.path, let to = folders[target]?.path,
            let name = try names(in: from).filter({ $0 != Self.marker })
                .randomElement(using: &random),
            let data = FileManager.default.contents(atPath: from + "/" + name)
        else { return }
        old[name, default: []].append(data)
        let place = URL(filePath: to + "/" + name)
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
            guard let earlier = old[name]?.randomElement(using: &random) else { return }
            try earlier.write(to: place, options: .atomic)
        case 1: try data.prefix(data.count / 2).write(to: place)
        default: try data.write(to: place, options: .atomic)
        }
    }

    /// Makes all folders the same: each file is that of its writer.
    ///
    /// - Parameter owners: The replica of each machine.
    func copyEverything(owners: [Int: ReplicaID]) throws {
        for (machine, owner) in owners {
            guard let from = folders[machine]?.path else { continue }
            for name in try names(in: from) where name.contains(owner.description) {
                guard let data = FileManager.default.contents(atPath: from + "/" + name) else {
                    continue
                }
                for (other, folder) in folders where other != machine {
                    try data.write(to: URL(filePath: folder.path + "/" + name), options: .atomic)
                }
            }
        }
    }
}
