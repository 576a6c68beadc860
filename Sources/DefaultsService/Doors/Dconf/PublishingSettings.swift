import DBus
import DefaultsCore
import DconfFiles
import DefaultsDconf
import DefaultsModel
import DefaultsStorage
import Logging

// Invariants
//
// 1. The file has what programs of GSettings see: of each setting the value of the first layer that has
//    one: managed, host, domain, system.
// 2. One thing at a time is done with the file, on its own thread. A change of the database that comes
//    meanwhile is written next.
// 3. Each file has every change of several settings as a whole: the last reading of the database
//    and the order to write are one step of the loop.
// 4. If the file cannot be written, the changes still hold, and the calls that made them fail: their programs
//    read the old values. It is logged once, and tried again.
// 5. The database names the domains of the file that no schema may bring there: those that programs have
//    changed by dconf's interface or by GSettings. So a file that was lost comes back whole.
// 6. Nothing is written before the name of dconf's service belongs to this daemon, and it does nothing
//    when there is nothing to write.

/// Keeps dconf's file up to date with the database.
extension DconfDoor {
    /// How long changes that nobody waits for are collected.
    private static let pause = Duration.milliseconds(20)
    /// How many times as long as the last writing of the file they are collected at least.
    private static let pauseFactor = 10
    /// How soon a failure is tried again, and how seldom at most.
    private static let retryDelays = (first: Duration.seconds(1), last: Duration.seconds(60))
    /// How many settings are read before other work has its turn.
    private static let mostReadAtOnce = 256
    /// If more settings than this have changed, all are read.
    private static let mostChanged = 4096
    /// How often a file is read again that somebody else writes.
    private static let mostAttempts = 4

    // MARK: What is due

    /// Begins to serve, if the name of dconf's service belongs to this daemon.
    nonisolated(nonsending) func startPublishing() async {
        guard let name = face.connection.uniqueName else { return }
        // The bus tells it on this thread.
        nonisolated(unsafe) let door = self
        await face.connection.onNameAcquired(Dconf.busName) { door.noteName() }
        // A daemon that replaces another has asked for the name before.
        let owner = try? await face.connection.owner(of: Dconf.busName)
        if owner == name { noteName() }
    }

    private func noteName() {
        state.isOwner = true
        publish(afterPause: .zero)
    }

    /// Notes a change of the database that programs may see in the file.
    func noteChanges(_ announcements: [Announcement]) {
        for announcement in announcements where announcement.domain.name == DconfDomains.record {
            let keys = announcement.changed.map(\.name).filter { !state.domains.contains($0) }
            if !keys.isEmpty { state.isWholeDue = true }
        }
        for announcement in announcements where state.isPublished(announcement.domain.name) {
            if case .host(let host) = announcement.domain.layer, host != store.hosts.this.id {
                continue
            }
            let keys = announcement.changed + announcement.removed
            let count = state.changed.count + keys.count
            guard !keys.isEmpty, count <= Self.mostChanged else {
                state.isWholeDue = true
                continue
            }
            for key in keys {
                let path = SettingsPath(domain: announcement.domain.name, key: key.name)
                if let path { state.changed.insert(path) }
            }
        }
        guard state.isDue else { return }
        publish(afterPause: max(Self.pause, state.duration * Self.pauseFactor))
    }

    /// Has the file show all settings of the domains of a change.
    ///
    /// A domain that no program of dconf has changed before may have others.
    func showDomains(of paths: [SettingsPath]) {
        for domain in Set(paths.map(\.domain)) where !state.isPublished(domain) {
            state.domains.insert(domain)
            do {
                let keys = try face.layersOfDesktop(domain).flatMap {
                    try store.database.keys(of: $0)
                }
                let settings = keys.compactMap { SettingsPath(domain: domain, key: $0.name) }
                state.changed.formUnion(settings)
            } catch {
                state.isWholeDue = true
            }
        }
    }

    /// Carries something out when the file has all changes up to now, or cannot be written.
    func whenPublished(_ body: @escaping DconfState.Waiter) {
        guard state.isOwner, !store.hasEnded else { return body(nil) }
        state.waiting.append(body)
        state.isUrgent = true
        publish(afterPause: .zero)
    }

    /// Waits until the file has all changes up to now, or cannot be written.
    nonisolated(nonsending) func settingsPublished() async {
        await withCheckedContinuation { continuation in
            // This must be checked here: other work of the loop may have run since the call above.
            guard state.isOwner, state.isDue || state.isPublishing
            else { return continuation.resume() }
            whenPublished { _ in continuation.resume() }
        }
    }

    private func publish(afterPause delay: Duration) {
        guard state.isOwner, !state.isPublishing, state.isDue else { return }
        guard state.timer == nil || state.isUrgent || delay == .zero else { return }
        state.timer?.cancel()
        // Calls that came together share a file.
        state.timer = face.connection.loop.schedule(after: delay) { self.beginPublishing() }
    }

    private func beginPublishing() {
        state.timer = nil
        guard !state.isPublishing, !store.hasEnded else { return }
        state.isPublishing = true
        // All of this stays on this thread.
        nonisolated(unsafe) let door = self
        face.start { _ in await door.publishSettings() }
    }

    private nonisolated(nonsending) func publishSettings() async {
        let start = face.now
        let waiting = state.takeWaiting()
        let notices = state.takeNotices()
        var delay = Duration.zero
        recordDomains()
        do {
            let changed = try await writeSettings()
            recordDomains()
            noteSuccess()
            for body in waiting { body(nil) }
            notify(of: notices, changed)
        } catch {
            delay = noteFailure(error)
            // The file that has the changes is announced as one of somebody else's.
            for body in waiting { body("\(error)") }
        }
        state.duration = face.now - start
        state.isPublishing = false
        if state.isDue {
            let pause = max(Self.pause, state.duration * Self.pauseFactor)
            let isUrgent = state.isUrgent
            publish(afterPause: isUrgent ? .zero : max(delay, pause))
        } else {
            // The schemas go then, too. The next change may come before that.
            settings.memory.returnSoon()
        }
    }

    /// Forgets the schemas, unless they are needed soon.
    func forgetSchemas() {
        guard !state.isDue, !state.isPublishing else { return }
        state.file.schemas.forget()
    }

    private func notify(of notices: [(paths: [String], tag: String)], _ changed: [String]) {
        // The signal of a call that came meanwhile follows with the next file.
        let own = Set((notices + state.notices).flatMap(\.paths).map { Array($0.utf8) })
        let others = changed.filter { !own.contains(Array($0.utf8)) }
        notify(
            [DconfNotice(of: others, tag: "")].compactMap(\.self)
                + notices.compactMap { DconfNotice(of: $0.paths, tag: $0.tag) })
    }

    private func noteSuccess() {
        guard state.failure != nil else { return }
        face.logger.notice("\(state.file.places.file) can be written again.")
        state.failure = nil
        state.failures = 0
    }

    /// - Returns: When to try again.
    private func noteFailure(_ error: any Error) -> Duration {
        state.isWholeDue = true
        let reason = "\(error)"
        if state.failure != reason {
            face.logger.warning(
                """
                Programs that use libdconf do not see changes, as their file cannot be written. It \
                will be tried again. \(reason)
                """)
        }
        state.failure = reason
        let failures = min(state.failures, 16)
        state.failures = failures + 1
        return min(Self.retryDelays.first * (1 << failures), Self.retryDelays.last)
    }

    // MARK: Writing

    /// - Returns: The paths whose values differ in the new file.
    private nonisolated(nonsending) func writeSettings() async throws -> [String] {
        if state.changed.count > Self.mostChanged { state.isWholeDue = true }
        if !state.isWholeDue, let written = state.written {
            do {
                return try await writeChanged(replacing: written)
            } catch is DconfFile.Replaced {
                state.isWholeDue = true
            }
        }
        for _ in 1..<Self.mostAttempts {
            do {
                return try await writeAll()
            } catch is DconfFile.Replaced {
                continue
            }
        }
        return try await writeAll()
    }

    private nonisolated(nonsending) func writeChanged(replacing written: DconfFile.Written)
        async throws -> [String]
    {
        let paths = state.changed
        state.changed = []
        let updates = try paths.map { ($0, try visibleArchive(of: $0)) }
        do {
            let result = try await onFileThread {
                try $0.write(changed: updates, replacing: written)
            }
            state.written = result.file
            return result.changed
        } catch {
            state.changed.formUnion(paths)
            throw error
        }
    }

    private nonisolated(nonsending) func writeAll() async throws -> [String] {
        let found = try await onFileThread { try $0.read() }
        if let remark = found.remark { face.logger.warning("\(remark)") }
        var domains = Set(found.image.paths.compactMap { SettingsPath($0)?.domain })
        // A file that was lost comes back whole.
        if state.written == nil || found.identity == nil {
            domains.formUnion(try await onFileThread { try $0.formerDomains() })
        }
        state.domains.formUnion(domains.filter { !DconfDomains.isPrivate($0) })
        if let bytes = found.foreign {
            try await takeOver(found, bytes)
        }
        let families = try await onFileThread { $0.schemas.families }
        state.families = families
        // What is added to the record from now on is noted.
        let recorded = try recordedDomains().filter { !DconfDomains.isPrivate($0) }
        state.domains.formUnion(recorded)
        state.isWholeDue = false
        state.changed = []
        do {
            var archives = try await allVisibleArchives()
            // So much has changed meanwhile that it was not noted.
            if state.isWholeDue { throw DconfFile.Replaced() }
            // What has changed meanwhile is read again, together with everything that it changed with.
            for path in state.changed { archives[path] = try visibleArchive(of: path) }
            state.changed = []
            let updates = archives.map { ($0.key, Optional($0.value)) }
            let result = try await onFileThread {
                try $0.write(all: updates, replacing: found.identity)
            }
            state.written = result.file
            return result.changed
        } catch {
            state.isWholeDue = true
            throw error
        }
    }

    // MARK: Reading the database

    func visibleArchive(of path: SettingsPath) throws -> [UInt8]? {
        let key = try Key(path.key)
        for layer in try face.layersOfDesktop(path.domain) where face.layers.mayHaveKeys(layer) {
            do throws(StorageError) {
                if let stored = try store.database.value(layer, key) { return stored.archive }
            } catch {
                // After the repair, the change is announced.
                guard error.isDamage, store.requestRepair(because: error.description) else {
                    throw error
                }
            }
        }
        return nil
    }

    private nonisolated(nonsending) func allVisibleArchives() async throws -> [SettingsPath:
        [UInt8]]
    {
        let known = try store.database.domains() + store.database.domainsOfFiles()
        let domains = Set(known.map(\.name)).filter { state.isPublished($0) }
        var archives: [SettingsPath: [UInt8]] = [:]
        var count = 0
        for domain in domains {
            let layers = try face.layersOfDesktop(domain).filter { face.layers.mayHaveKeys($0) }
            let keys = Set(try layers.flatMap { try store.database.keys(of: $0) })
            for path in keys.compactMap({ SettingsPath(domain: domain, key: $0.name) }) {
                archives[path] = try visibleArchive(of: path)
                count += 1
                guard count.isMultiple(of: Self.mostReadAtOnce) else { continue }
                await turnOfOthers()
                guard !store.hasEnded else { throw Service.hasEnded }
            }
        }
        settings.memory.noteWork(onEntries: count)
        return archives
    }

    nonisolated(nonsending) func turnOfOthers() async {
        await withCheckedContinuation { continuation in
            face.connection.loop.perform { continuation.resume() }
        }
    }

    /// Works with the file on its thread.
    nonisolated(nonsending) func onFileThread<Result: Sendable>(
        _ work: @escaping @Sendable (DconfFile) throws -> Result
    ) async throws -> Result {
        let file = state.file
        let thread = try state.thread ?? EventLoop.startThread(named: "dconf")
        state.thread = thread
        return try await withCheckedThrowingContinuation { continuation in
            thread.perform {
                continuation.resume(with: Swift.Result { try work(file) })
            }
        }
    }
}
