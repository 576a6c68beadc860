import DBus
import DefaultsClient
import DefaultsModel
import DefaultsXfconf
@preconcurrency import Glibc
import KeyedArchive
import SystemCalls

/// Xfce: the files of xfconfd, one for each channel.
struct XfconfDoor: DesktopDoor {
    static let name = "xfconf"
    static let summary = "Xfce"
    let rival = "xfconfd"
    let busNames = [Xfconf.busName]
    /// The directory of the user's files.
    private let directory: String

    private static let suffix = ".xml"
    /// The largest file that is read, in bytes.
    private static let largestFile = 32 << 20

    init(in places: Places) throws(ToolError) {
        guard let config = places.config else { throw .noHome }
        directory = "\(config)/xfce4/xfconf/xfce-perchannel-xml"
    }

    func covers(_ domain: String) -> Bool { ChannelName(domain: domain) != nil }

    func snapshot() throws -> Snapshot {
        guard FileStatus.ifAny(directory) != nil else { return Snapshot() }
        var snapshot = Snapshot()
        for file in try Directory.names(in: directory) where channel(of: file) != nil {
            snapshot.files[file] = try InputFile.contents(
                of: "\(directory)/\(file)", limit: Self.largestFile)
        }
        return snapshot
    }

    func read(_ snapshot: Snapshot) throws -> [ImportedDomain] {
        try snapshot.files.sorted { $0.key < $1.key }.compactMap { file, bytes in
            try channel(of: file).map {
                ImportedDomain(name: $0.domain, entries: try entries(in: bytes, of: file))
            }
        }
    }

    private func channel(of file: String) -> ChannelName? {
        file.hasSuffix(Self.suffix)
            ? try? ChannelName(String(file.dropLast(Self.suffix.count))) : nil
    }

    private func entries(in bytes: [UInt8], of file: String) throws -> [DefaultsEntry] {
        do {
            // Locks are for administrators: xfconfd ignores them in the user's own files.
            let channel = try ChannelFile(bytes, for: UserNames(name: "", groups: []))
            return try channel.properties.compactMap { property in
                try property.value.map {
                    DefaultsEntry(key: property.key.name, archive: try $0.archive())
                }
            }
        } catch let error as ChannelFileError {
            throw ToolError.input(
                "\(directory)/\(file):\(error.line):\(error.column)", error.message)
        }
    }

    func write(_ domains: [ImportedDomain]) throws {
        var files: Set<String> = []
        for domain in domains {
            guard let channel = ChannelName(domain: domain.name) else { continue }
            var text = ChannelText(of: channel)
            for entry in domain.entries {
                // What is no property was not seen by any program of Xfce.
                guard entry.key.hasPrefix("/"), let value = PropertyValue(entry.archive) else {
                    continue
                }
                text.add(value, for: entry.key)
            }
            let file = "\(channel)\(Self.suffix)"
            try AdoptionFiles.write(Array(text.text.utf8), to: "\(directory)/\(file)")
            files.insert(file)
        }
        try removeEmptied(except: files)
    }

    /// Removes the files of channels that have no property any more.
    private func removeEmptied(except files: Set<String>) throws {
        guard FileStatus.ifAny(directory) != nil else { return }
        for file in try Directory.names(in: directory)
        where channel(of: file) != nil && !files.contains(file) {
            try AdoptionFiles.remove("\(directory)/\(file)")
        }
    }

    func pass(_ changes: [DoorChange], over bus: Connection) async throws {
        for change in changes {
            guard let channel = ChannelName(domain: change.domain), change.key.hasPrefix("/") else {
                continue
            }
            let property = [Value.string(channel.description), .string(change.key)]
            if let value = change.archive.flatMap({ PropertyValue($0) }) {
                _ = try await bus.call(
                    Xfconf.busName, Xfconf.objectPath, Xfconf.interface, Xfconf.setProperty.name,
                    property + [.variant(value.value)])
            } else {
                // A property that is not there needs no reset.
                _ = try? await bus.call(
                    Xfconf.busName, Xfconf.objectPath, Xfconf.interface, Xfconf.resetProperty.name,
                    property + [.boolean(false)])
            }
        }
    }
}
