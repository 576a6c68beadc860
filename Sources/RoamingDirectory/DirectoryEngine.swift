package import DBus
package import DefaultsRoaming
import SQLite
import SystemCalls

/// Roaming by a directory that something else keeps the same on all machines, such as Syncthing,
/// Nextcloud, NFS or git.
///
/// Each replica writes one file of its own, and reads those of all others. What it has ever read is in
/// tables of `roam.db`, so an older copy of a file takes nothing back. The rules are in
/// `DirectoryState.swift`.
package actor DirectoryEngine: Engine {
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        loop.asUnownedSerialExecutor()
    }
    private nonisolated let loop: EventLoop

    private nonisolated let folder: RoamingFolder
    private let state: DirectoryState
    private let clock: @Sendable () -> Moment
    private var isMet = false
    /// The files that were read, in the state in which they were.
    private var known: [String: FileState] = [:]
    /// This replica's file as it was read or written last, if it was the last one.
    private var ownFile: (state: FileState, stamp: [UInt8])?
    private var watch: DirectoryWatch?
    private var news: (@Sendable () -> Void)?

    /// The files that cannot be used, by their names.
    private var problemsByName: [String: FileProblem] = [:]

    /// Opens the tables, without looking at the directory.
    ///
    /// - Parameters:
    ///   - directory: The absolute path of the directory, which need not be there.
    ///   - database: The path of `roam.db`, which has the state of this replica.
    ///   - loop: The loop that all calls come on.
    ///   - clock: Says what time it is on this machine.
    /// - Throws: ``EngineError``, if the tables cannot be used.
    package init(
        _ directory: String, database: String, on loop: EventLoop,
        clock: @escaping @Sendable () -> Moment = { .now }
    ) throws {
        self.loop = loop
        self.clock = clock
        folder = RoamingFolder(path: directory)
        state = try Self.translating { try DirectoryState(path: database) }
    }

    /// The files in the directory that cannot be used; all others are.
    package var fileProblems: [FileProblem] {
        problemsByName.values.sorted { $0.name < $1.name }
    }

    package var problems: [String] { fileProblems.map { "\($0)." } }

    /// A server does not say what other machines write.
    package nonisolated var pollInterval: Duration? {
        FileSystem(ofDirectory: folder.path).isNetwork ? .seconds(30) : .seconds(300)
    }

    package func notePulled(upTo revision: UInt64) {
        // Others wait only until this replica has joined their files, which is on the disk before a pull.
    }

    package func close() {
        watch = nil
        news = nil
    }
}

// MARK: Meeting

extension DirectoryEngine {
    package func meet(
        _ replica: ReplicaID, named name: String, known place: [UInt8]?,
        lastBatch: (number: UInt64, nonce: [UInt8], isAnswered: Bool)?
    ) throws -> Meeting {
        isMet = false
        let here = try folder.place(known: place) { other in
            try other == replica || Self.translating { try state.hasJoined(other) }
        }
        if state.own.replica != replica { (known, ownFile) = ([:], nil) }
        try Self.translating { try state.begin(as: replica, named: name) }
        let isOurs = try !isUsedByAnother(lastBatch) && !isForgotten() && joinFiles()
        guard isOurs else { return meeting(.mustJoinAnew, at: here) }
        try Self.translating {
            try state.settleOrphans()
            // Not by the wall clock: one that jumps forth and back would make days.
            try state.maintain(onDay: state.time(at: clock()) / 86_400_000_000)
        }
        isMet = true
        try writeFileIfNeeded()
        return meeting(place == nil || place == here ? .continued : .rewound, at: here)
    }

    private func meeting(_ state: Meeting.State, at place: [UInt8]) -> Meeting {
        Meeting(state: state, place: place, revision: UInt64(self.state.own.revision))
    }

    /// Whether someone else has pushed under the name of this replica.
    private func isUsedByAnother(_ lastBatch: (number: UInt64, nonce: [UInt8], isAnswered: Bool)?)
        throws -> Bool
    {
        let own = state.own
        guard own.batch > 0 else { return false }
        guard let lastBatch else { return true }
        return UInt64(own.batch) > lastBatch.number
            || UInt64(own.batch) == lastBatch.number && own.nonce != lastBatch.nonce
    }

    /// Whether a file has said so, also if that file is gone.
    private func isForgotten() throws -> Bool {
        try Self.translating { try state.isForgotten(state.own.replica) }
    }

    /// Joins all files that are new.
    ///
    /// - Returns: Whether this replica's name is still its own.
    private func joinFiles() throws -> Bool {
        let now = clock().wall
        let (before, ownName, ownFile) = (known, ownName, ownFile)
        var isOurs = true
        // A file with a problem is never known, so it is found again.
        problemsByName = [:]
        try folder.read(
            unless: { name, file in
                let last = name == ownName ? ownFile?.state : before[name]
                return last == file && !file.isFresh(at: now)
            }
        ) { finding in
            isOurs = try use(finding)
            return isOurs
        }
        return isOurs
    }

    /// - Returns: Whether this replica's name is still its own.
    private func use(_ finding: RoamingFolder.Finding) throws -> Bool {
        switch finding.content {
        case .success(let file):
            known[finding.name] = finding.state
            return try join(file, from: finding)
        case .failure(let problem):
            problemsByName[finding.name] = problem
            known[finding.name] = nil
            return true
        }
    }

    private func join(_ file: ReplicaFile, from finding: RoamingFolder.Finding) throws -> Bool {
        guard file.replica != state.own.replica else {
            if finding.name == ownName, file.stamp == state.own.stamp {
                ownFile = (finding.state, file.stamp)
            }
            return isOurs(file)
        }
        try Self.translating { _ = try state.time(at: clock(), seen: file.latestTime) }
        switch try Self.translating({ try state.join(file) }) {
        case .known, .joined: break
        case .knowsMore: return false
        case .tooMany:
            known[finding.name] = nil
            problemsByName[finding.name] = FileProblem(
                finding.name, "names too many replicas; forget those that are gone")
        }
        return true
    }

    /// Whether this replica has written a file that has its name.
    private func isOurs(_ file: ReplicaFile) -> Bool {
        let own = state.own
        if file.sequence != own.sequence { return file.sequence < own.sequence }
        return file.stamp == own.stamp
    }
}

// MARK: The own file

extension DirectoryEngine {
    private var ownName: String { RoamingFolder.name(of: state.own.replica) }

    /// Writes this replica's file, unless it is there as it should be.
    private func writeFileIfNeeded() throws {
        let path = folder.path(of: ownName)
        if let status = FileStatus.ifAny(path, followingLinks: false) {
            if let ownFile, ownFile.state == FileState(status), ownFile.stamp == state.own.stamp {
                return
            }
            switch folder.read(ownName) {
            case .success(let file):
                if !isOurs(file) { throw lostName() }
                if file.stamp == state.own.stamp {
                    ownFile = (FileState(status), file.stamp)
                    return
                }
            case .failure(let problem):
                guard !problem.isOfLaterVersion else {
                    throw EngineError(.refused, "\(problem). Install that version.")
                }
            }
        }
        try writeFile()
    }

    private func writeFile() throws {
        ownFile = nil
        let file = try Self.translating { try state.file(now: state.time(at: clock())) }
        try folder.write(file)
        ownFile = FileStatus.ifAny(folder.path(of: ownName), followingLinks: false)
            .map { (FileState($0), file.stamp) }
    }

    private func lostName() -> EngineError {
        isMet = false
        return EngineError(
            .unreachable,
            "A copy of this replica has written its file; it joins again as a new replica.")
    }

    /// Does something that may give the file something new to say, and writes it.
    private func change<Result>(_ body: () throws -> Result) throws -> Result {
        guard isMet else {
            throw EngineError(.unreachable, "The directory was not looked at. Try again.")
        }
        // The tables must not go on if the file is a copy's by now.
        try checkOwnFile()
        let stamp = state.own.stamp
        let result = try Self.translating(body)
        if state.own.stamp != stamp || ownFile == nil {
            do {
                try writeFile()
            } catch {
                // The next meeting writes it; until then nothing was made known.
                isMet = false
                throw error
            }
        }
        return result
    }

    private func checkOwnFile() throws {
        guard let status = FileStatus.ifAny(folder.path(of: ownName), followingLinks: false),
            FileState(status) != ownFile?.state
        else { return }
        if case .success(let file) = folder.read(ownName), !isOurs(file) { throw lostName() }
        ownFile = nil
    }

    /// Errors of the tables are errors of the engine.
    private static func translating<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as SQLiteError {
            throw EngineError(.unreachable, "The state of roaming cannot be used: \(error).")
        }
    }
}

// MARK: Versions

extension DirectoryEngine {
    package func pull(after revision: UInt64, limit: Int) throws -> Page {
        let page = try Self.translating { try state.page(after: revision, limit: limit) }
        return Page(
            versions: page.versions, losers: try told(page.losers), revision: page.revision,
            hasMore: page.hasMore)
    }

    package func push(_ batch: Batch) throws -> (outcomes: [Outcome], losers: [Loser]) {
        try change {
            let outcomes = try state.push(batch, now: state.time(at: clock()))
            let losers = try state.losers()
            // They come with a pull, and the round under way may make none any more.
            if losers.hasMore { news?() }
            return (outcomes, try told(losers.first))
        }
    }

    /// Losers with the times that people know: those of this machine's wall clock.
    private func told(_ losers: [Loser]) throws -> [Loser] {
        guard !losers.isEmpty else { return [] }
        let lead = try lead()
        return losers.map { loser in
            var time = loser.time
            if case .known(let known) = time { time = .known(known.subtractingSaturated(lead)) }
            return Loser(
                name: loser.name, key: loser.key, archive: loser.archive, time: time,
                replica: loser.replica)
        }
    }

    /// How far the clock of the directory is ahead of this machine's.
    private func lead() throws -> Int64 {
        let moment = clock()
        return try Self.translating { try state.time(at: moment).subtractingSaturated(moment.wall) }
    }

    package func noteKept(_ losers: [Loser]) throws {
        try change { try state.noteKept(losers) }
    }

    package func machines() throws -> [Machine] {
        let lead = try lead()
        return try Self.translating { try state.machines(now: state.time(at: clock())) }.map {
            Machine(
                id: $0.id, name: $0.name, seen: $0.seen.map { $0.subtractingSaturated(lead) })
        }
    }

    package func forget(_ replica: ReplicaID) throws {
        guard replica != state.own.replica else {
            throw EngineError(.refused, "This machine cannot forget itself. Disable roaming here.")
        }
        try change { try state.forget(replica) }
        // What it vouched for is in this replica's file by now.
        try folder.removeFile(of: replica)
    }
}

// MARK: News

extension DirectoryEngine {
    package func onNews(_ body: @escaping @Sendable () -> Void) {
        news = body
        watchDirectory()
    }

    private func watchDirectory() {
        watch = nil
        // Without a watch there is the poll.
        watch = try? DirectoryWatch([folder.path], on: loop) { [unowned self] sign in
            assumeIsolated { $0.noteNews(sign) }
        }
    }

    private func noteNews(_ sign: DirectoryWatch.Sign) {
        // A new file that is being written is reported again when it is closed.
        guard sign == .change else { return }
        watchDirectory()
        let ownFile = ownFile?.state
        let hasNews = folder.hasChanged { name in name == ownName ? ownFile : known[name] }
        if hasNews { news?() }
    }
}
