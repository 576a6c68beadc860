import DefaultsRoaming
import Glibc
import SystemCalls

// Invariants
//
// 1. A directory without the marker is never taken for one in which nothing is. It may be the place where
//    a drive or a share is not mounted, or a copy that is not complete yet.
// 2. Only files of this replica are written, and the marker. A new marker is made if there is none and no
//    replica's file. A replica that has met here before writes the marker again if it is damaged, or if it
//    is gone while files of replicas are there that this one knows.
// 3. A file appears under its name as a whole, and after it is on the disk.
// 4. Nothing but a regular file is read. Links are not followed, and pipes are not waited for.

/// The directory that something else keeps the same on all machines.
struct RoamingFolder {
    /// The file that tells this directory from an empty one, and from others.
    static let marker = "defaultsd-roam"
    /// How the names of replicas' files end, those of copies too.
    static let suffix = ".roam"

    private static let markerSize = 1 << 12
    private static let markerLine = "defaultsd-roam place "

    /// Its path.
    let path: String

    /// What was found under a name.
    struct Finding {
        let name: String
        /// What tells the file from a later one of this name.
        let state: FileState
        let content: Result<ReplicaFile, FileProblem>
    }

    func path(of name: String) -> String { "\(path)/\(name)" }

    static func name(of replica: ReplicaID) -> String { "\(replica)\(suffix)" }
}

extension FileState {
    /// Whether the contents may have changed since without a trace.
    ///
    /// A file system counts time in ticks, some in ticks of two seconds.
    func isFresh(at now: Int64) -> Bool { Int64(seconds) > now / 1_000_000 - 4 }
}

/// A file in the directory that cannot be used.
///
/// All others are used.
package struct FileProblem: Error, Equatable, Sendable, CustomStringConvertible {
    /// The name of the file.
    package let name: String
    /// Why: the end of a sentence about the file.
    package let reason: String
    /// Whether a later version of the program has written it, so that it is not damaged.
    let isOfLaterVersion: Bool

    init(_ name: String, _ reason: String) {
        self.name = name
        self.reason = reason
        isOfLaterVersion = false
    }

    init(_ name: String, _ fault: FileFault) {
        self.name = name
        reason = fault.description
        isOfLaterVersion = fault == .laterVersion
    }

    /// The sentence.
    package var description: String { "'\(name)' \(reason)" }
}

// MARK: The marker

extension RoamingFolder {
    /// Reads the ID of this directory from its marker file.
    ///
    /// A new directory gets a marker first. In one that was met before, a marker that is damaged or
    /// removed is written again: no other file tells what it was, and no machine could go on.
    ///
    /// - Parameters:
    ///   - known: What the marker said when this replica met here; nil if it never did.
    ///   - isKnown: Whether a replica has met here, too, or is this one.
    func place(
        known: [UInt8]?, knowing isKnown: (ReplicaID) throws -> Bool
    ) throws -> [UInt8] {
        try checkDirectory()
        switch (try readMarker(), known.flatMap { ReplicaID(bytes: $0) }) {
        case (.place(let place), _): return place.bytes
        case (.damaged, let place?): return try write(marker: place)
        case (.damaged, nil): throw damaged
        case (.missing, let place?):
            guard try replicas().contains(where: isKnown) else { throw emptied }
            return try write(marker: place)
        case (.missing, nil):
            guard known == nil else { throw emptied }
            guard try replicas().isEmpty else { throw incomplete }
            return try write(marker: .random())
        }
    }

    private func checkDirectory() throws {
        let status: FileStatus
        do throws(SystemError) {
            status = try FileStatus(of: path)
        } catch {
            throw error.number == EACCES ? forbidden("read") : missing
        }
        guard status.kind == .directory else {
            throw EngineError(.refused, "'\(path)' is not a directory. Name another one.")
        }
    }

    /// What is found under the marker's name.
    private enum Marker {
        case missing
        /// Not what a replica has written, or not readable at this place of the disk.
        case damaged
        case place(ReplicaID)
    }

    private func readMarker() throws -> Marker {
        let bytes: [UInt8]?
        do throws(SystemError) {
            let file = try File.regular(path(of: Self.marker), O_RDONLY | O_NOFOLLOW)
            bytes = try file.contents(atMost: Self.markerSize)
        } catch {
            switch error.number {
            case ENOENT: return .missing
            case ELOOP, EIO: return .damaged
            case EACCES: throw forbidden("read")
            default:
                if error.call == File.openingRegular { return .damaged }
                throw EngineError(.unreachable, "A file cannot be read: \(error).")
            }
        }
        let text = String(decoding: bytes ?? [], as: UTF8.self)
        guard text.hasPrefix(Self.markerLine), text.hasSuffix("\n"),
            let place = ReplicaID(text.dropFirst(Self.markerLine.count).dropLast())
        else { return .damaged }
        return .place(place)
    }

    private func write(marker place: ReplicaID) throws -> [UInt8] {
        try write(Array("\(Self.markerLine)\(place)\n".utf8), to: Self.marker)
        return place.bytes
    }

    private var damaged: EngineError {
        EngineError(
            .unreachable,
            "'\(path(of: Self.marker))' is incomplete or damaged. Wait until it is copied. A machine "
                + "that roams here already writes it again at its next exchange.")
    }

    private var incomplete: EngineError {
        EngineError(
            .unreachable,
            "'\(path)' has files of other machines, but no file '\(Self.marker)'. Wait until all files "
                + "are copied. A machine that roams here already writes this file again at its next "
                + "exchange.")
    }

    private var emptied: EngineError {
        EngineError(
            .unreachable,
            "'\(path)' has no file '\(Self.marker)'. If it is on a drive or a server, mount it. "
                + "If you have emptied it, use another directory on all machines: 'defaultsctl "
                + "roam enable --directory DIRECTORY'.")
    }

    private var missing: EngineError {
        EngineError(
            .unreachable,
            "Directory '\(path)' does not exist. Create it on the first machine; on others, wait "
                + "until it is copied. If it is on a drive or a server, mount it.")
    }

    /// The error if the user may not do something to the directory.
    private func forbidden(_ verb: String) -> EngineError {
        EngineError(
            .unreachable,
            "You may not \(verb) the directory '\(path)'. Change its permissions, or choose another "
                + "directory.")
    }
}

// MARK: Replicas' files

extension RoamingFolder {
    /// The names of replicas' files, and of copies that synchronisers make of them.
    private func replicaNames() throws -> [String] {
        do throws(SystemError) {
            return try Directory.entries(in: path).map(\.name)
                .filter { Self.replica(ofName: $0) != nil }.sorted()
        } catch {
            if error.number == EACCES { throw forbidden("read") }
            throw EngineError(.unreachable, "The directory cannot be read: \(error).")
        }
    }

    /// The replicas whose files, or copies of files, are here.
    private func replicas() throws -> [ReplicaID] {
        try replicaNames().compactMap { Self.replica(ofName: $0) }
    }

    /// The replica whose file, or copy of a file, has a name.
    private static func replica(ofName name: String) -> ReplicaID? {
        name.hasSuffix(suffix) ? ReplicaID(name.prefix(36)) : nil
    }

    /// Reads all files of replicas, one after the other: all of them at once may not fit in memory.
    ///
    /// - Parameters:
    ///   - isKnown: Whether a file in this state was read before, and is left out.
    ///   - use: What is done with each; it says whether to go on.
    func read(
        unless isKnown: (String, FileState) -> Bool, _ use: (Finding) throws -> Bool
    ) throws {
        let names = try replicaNames()
        for name in names.prefix(FileLimits.replicas) {
            guard let status = FileStatus.ifAny(path(of: name), followingLinks: false) else {
                continue
            }
            let state = FileState(status)
            guard !isKnown(name, state) else { continue }
            guard try use(Finding(name: name, state: state, content: read(name))) else { return }
        }
        if let name = names.dropFirst(FileLimits.replicas).first,
            let status = FileStatus.ifAny(path)
        {
            let problem = FileProblem(
                name, "and what follows is not read: there are too many files")
            _ = try use(Finding(name: name, state: FileState(status), content: .failure(problem)))
        }
    }

    /// Whether a file is not in the state in which it was read or written.
    func hasChanged(since state: (String) -> FileState?) -> Bool {
        guard let names = try? replicaNames() else { return true }
        return names.contains { name in
            let status = FileStatus.ifAny(path(of: name), followingLinks: false)
            return status.map { FileState($0) } != state(name)
        }
    }

    func read(_ name: String) -> Result<ReplicaFile, FileProblem> {
        do throws(SystemError) {
            let file = try File.regular(path(of: name), O_RDONLY | O_NOFOLLOW)
            guard let bytes = try file.contents(atMost: FileLimits.size) else {
                return .failure(FileProblem(name, "is too large"))
            }
            return Self.content(of: name, bytes)
        } catch {
            let reason =
                error.number == ELOOP
                ? "is a link" : "cannot be read: \(error.call): \(error.reason)"
            return .failure(FileProblem(name, reason))
        }
    }

    private static func content(
        of name: String, _ bytes: [UInt8]
    ) -> Result<ReplicaFile, FileProblem> {
        do throws(FileFault) {
            let file = try ReplicaFile(bytes: bytes)
            guard file.replica == replica(ofName: name) else {
                return .failure(FileProblem(name, "is the file of another replica"))
            }
            return .success(file)
        } catch {
            return .failure(FileProblem(name, error))
        }
    }

    /// Writes the file of a replica.
    func write(_ file: ReplicaFile) throws {
        try write(file.bytes, to: Self.name(of: file.replica))
    }

    /// Removes the file of a replica, if there is one.
    func removeFile(of replica: ReplicaID) throws {
        let name = path(of: Self.name(of: replica))
        guard FileCalls.unlink(name) == 0 || errno == ENOENT else {
            throw EngineError(.refused, "\(SystemError.last("unlink", name)).")
        }
    }

    private func write(_ bytes: [UInt8], to name: String) throws {
        // A hidden name: synchronisers that leave hidden files out do not copy half a file.
        let temporary = path(of: ".\(name).new")
        do throws(SystemError) {
            _ = FileCalls.unlink(temporary)
            let file = try File(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
            try file.write(bytes)
            try file.synchronize()
            guard FileCalls.rename(temporary, to: path(of: name)) == 0 else {
                throw .last("rename", path(of: name))
            }
            try File(path, O_RDONLY | O_DIRECTORY).synchronize()
        } catch {
            _ = FileCalls.unlink(temporary)
            if error.number == EACCES { throw forbidden("write to") }
            throw EngineError(.unreachable, "'\(name)' cannot be written: \(error).")
        }
    }
}
