import DefaultsRoaming
import Foundation
import RoamingDirectory
import TestSupport

/// Folders of machines that a bad synchroniser keeps the same in the end: it copies files late, in any
/// order, twice, in old versions, and cut in the middle.
///
/// Sometimes it damages the marker of a folder.
final class Synchroniser: @unchecked Sendable {
    /// The file that marks the place, which machines write again if it is damaged.
    private static let marker = "defaultsd-roam"
    /// What the name of a file has if another one of that name was there.
    private static let conflict = ".sync-conflict-"

    private var random: SeededGenerator
    private let place = ReplicaID.random()
    private var folders: [Int: TemporaryDirectory] = [:]
    /// Earlier contents of files.
    private var old: [String: [Data]] = [:]
    /// The last file that each machine has written under each name.
    ///
    /// A name has several machines if one is a copy of another. A machine that was put back has another name
    /// since, and does not write its earlier file again.
    private var last: [ReplicaID: [Int: Data]] = [:]
    /// The machine whose disk was replaced.
    private var replaced: Int?

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    /// Notes what a machine was called in the round that has just ended.
    func note(_ replica: ReplicaID, of machine: Int) {
        let path = (folders[machine]?.path ?? "") + "/\(replica).roam"
        guard let data = FileManager.default.contents(atPath: path) else { return }
        last[replica, default: [:]][machine] = data
    }

    /// The name under which a file in the folder of one machine comes to another.
    ///
    /// If several machines have written a file, all of their files are everywhere, as synchronisers do it.
    private func name(of name: String, from source: Int, at target: Int) -> String {
        guard let writers = last.first(where: { name == "\($0.key).roam" })?.value.keys.sorted(),
            let first = writers.first, writers.count > 1
        else { return name }
        let writer = writers.contains(source) ? source : first
        if target == writer || writer == first && !writers.contains(target) { return name }
        return name.prefix { $0 != "." } + Self.conflict + "\(writer).roam"
    }

    func folder(of machine: Int) throws -> String {
        if let folder = folders[machine] { return folder.path }
        let folder = try TemporaryDirectory()
        folders[machine] = folder
        // The place was made before, by a machine that is gone.
        try markerContents.write(to: Self.marker(in: folder))
        return folder.path
    }

    private var markerContents: Data { Data("defaultsd-roam place \(place)\n".utf8) }

    private static func marker(in folder: TemporaryDirectory) -> URL {
        URL(filePath: "\(folder.path)/\(marker)")
    }

    /// Cuts the marker in a folder, or changes a byte of its first word.
    private func damageMarker(in folder: TemporaryDirectory) throws {
        var bytes = markerContents
        if Bool.random(using: &random) {
            bytes.removeLast(Int.random(in: 1...bytes.count, using: &random))
        } else {
            bytes[Int.random(in: 0..<Self.marker.utf8.count, using: &random)] ^= 1
        }
        try bytes.write(to: Self.marker(in: folder), options: .atomic)
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
        if Int.random(in: 0..<30, using: &random) == 0, let folder = folders[target] {
            try damageMarker(in: folder)
        }
        let isOwn = last.contains { name == "\($0.key).roam" && $0.value[target] != nil }
        if target == replaced, isOwn { return }
        old[name, default: []].append(data)
        let place = URL(filePath: to + "/" + self.name(of: name, from: source, at: target))
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
            guard let earlier = old[name]?.randomElement(using: &random) else { return }
            try earlier.write(to: place, options: .atomic)
        case 1: try data.prefix(data.count / 2).write(to: place)
        default: try data.write(to: place, options: .atomic)
        }
    }

    /// Brings the last files that a machine has written into its folder, in which an old copy may be.
    ///
    /// From then on it gets no old copies of them: it writes them no more.
    func copyLastFiles(of machine: Int) throws {
        replaced = machine
        guard let folder = folders[machine]?.path else { return }
        for (replica, files) in last {
            guard let data = files[machine] else { continue }
            try data.write(to: URL(filePath: "\(folder)/\(replica).roam"), options: .atomic)
        }
    }

    /// Makes all folders the same: each file is that of its writers.
    func copyEverything() throws {
        let markers = folders.values.map(Self.marker(in:))
        if markers.contains(where: { (try? Data(contentsOf: $0)) == markerContents }) {
            for marker in markers { try markerContents.write(to: marker, options: .atomic) }
        }
        for (replica, files) in last {
            for (writer, data) in files {
                // The writer's own folder may have an old copy of a file that it does not write any more.
                for (other, folder) in folders {
                    let name = name(of: "\(replica).roam", from: writer, at: other)
                    try data.write(to: URL(filePath: folder.path + "/" + name), options: .atomic)
                }
            }
        }
    }
}
