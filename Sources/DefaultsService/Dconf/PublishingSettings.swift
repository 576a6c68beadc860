import DBus
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
extension DefaultsObject {
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
    func startPublishing() async {
        guard dconf != nil, let name = connection.uniqueName else { return }
        await connection.onNameAcquired(Dconf.busName) {
            self.assumeIsolated { $0.noteDconfName() }
        }
        // A daemon that replaces another has asked for the name before.
        let owner = try? await connection.owner(of: Dconf.busName)
        if owner == name { noteDconfName() }
    }

    private func noteDconfName() {
        dconf?.isOwner = true
        publish(afterPause: .zero)
    }

    /// Notes a change of the database that programs may see in the file.
    func noteForDconf(_ announcements: [Announcement]) {
        guard let state = dconf, state.ownChange == nil else { return }
        for announcement in announcements where announcement.domain.name == DconfDomains.record {
            let keys = announcement.changed.map(\.name).filter { !state.domains.contains($0) }
            if !keys.isEmpty { dconf?.isWholeDue = true }
        }
        for announcement in announcements where state.isPublished(announcement.domain.name) {
            if case .host(let host) = announcement.domain.layer, host != hosts.this.id { continue }
            let keys = announcement.changed + announcement.removed
            let count = (dconf?.changed.count ?? 0) + keys.count
            guard !keys.isEmpty, count <= Self.mostChanged else {
                dconf?.isWholeDue = true
                continue
            }
            for key in keys {
                let path = SettingsPath(domain: announcement.domain.name, key: key.name)
                if let path { dconf?.changed.insert(path) }
            }
        }
        guard dconf?.isDue == true else { return }
        publish(afterPause: max(Self.pause, state.duration * Self.pauseFactor))
    }

    /// Has the file show all settings of the domains of a change.
    ///
    /// A domain that no program of dconf has changed before may have others.
    func showDomains(of paths: [SettingsPath]) {
        for domain in Set(paths.map(\.domain)) where dconf?.isPublished(domain) == false {
            dconf?.domains.insert(domain)
            do {
                let keys = try layers(ofSettings: domain).flatMap { try database.keys(of: $0) }
                let settings = keys.compactMap { SettingsPath(domain: domain, key: $0.name) }
                dconf?.changed.formUnion(settings)
            } catch {
                dconf?.isWholeDue = true
            }
        }
    }

    /// Carries something out when the file has all changes up to now, or cannot be written.
    func whenPublished(_ body: @escaping DconfState.Waiter) {
        guard dconf?.isOwner == true, !disk.hasEnded else { return body(nil) }
        dconf?.waiting.append(body)
        dconf?.isUrgent = true
        publish(afterPause: .zero)
    }

    /// Waits until the file has all changes up to now, or cannot be written.
    func settingsPublished() async {
        await withCheckedContinuation { continuation in
            // This must be checked here: other work of the loop may have run since the call above.
            guard dconf?.isOwner == true, dconf?.isDue == true || dconf?.isPublishing == true
            else { return continuation.resume() }
            whenPublished { _ in continuation.resume() }
        }
    }

    private func publish(afterPause delay: Duration) {
        guard let state = dconf, state.isOwner, !state.isPublishing, state.isDue else { return }
        guard state.timer == nil || state.isUrgent || delay == .zero else { return }
        dconf?.timer?.cancel()
        // Calls that came together share a file.
        dconf?.timer = connection.loop.schedule(after: delay) {
            self.assumeIsolated { $0.beginPublishing() }
        }
    }

    private func beginPublishing() {
        dconf?.timer = nil
        guard dconf?.isPublishing == false, !disk.hasEnded else { return }
        dconf?.isPublishing = true
        Task(executorPreference: connection.loop) { await self.publishSettings() }
    }

    private func publishSettings() async {
        let start = now
        let waiting = dconf?.takeWaiting() ?? []
        let notices = dconf?.takeNotices() ?? []
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
        dconf?.duration = now - start
        dconf?.isPublishing = false
        if dconf?.isDue == true {
            let pause = max(Self.pause, (dconf?.duration ?? .zero) * Self.pauseFactor)
            let isUrgent = dconf?.isUrgent == true
            publish(afterPause: isUrgent ? .zero : max(delay, pause))
        } else {
            // The schemas go then, too. The next change may come before that.
            memory.returnSoon()
        }
    }

    /// Forgets the schemas, unless they are needed soon.
    func forgetSchemas() {
        guard dconf?.isDue == false, dconf?.isPublishing == false else { return }
        dconf?.file.schemas.forget()
    }

    private func notify(of notices: [(paths: [String], tag: String)], _ changed: [String]) {
        // The signal of a call that came meanwhile follows with the next file.
        let own = Set((notices + (dconf?.notices ?? [])).flatMap(\.paths).map { Array($0.utf8) })
        let others = changed.filter { !own.contains(Array($0.utf8)) }
        notify(
            [DconfNotice(of: others, tag: "")].compactMap(\.self)
                + notices.compactMap { DconfNotice(of: $0.paths, tag: $0.tag) })
    }

    private func noteSuccess() {
        guard let state = dconf, state.failure != nil else { return }
        logger.notice("\(state.file.places.file) can be written again.")
        dconf?.failure = nil
        dconf?.failures = 0
    }

    /// - Returns: When to try again.
    private func noteFailure(_ error: any Error) -> Duration {
        dconf?.isWholeDue = true
        let reason = "\(error)"
        if dconf?.failure != reason {
            logger.warning(
                """
                Programs that use libdconf do not see changes, as their file cannot be written. It \
                will be tried again. \(reason)
                """)
        }
        dconf?.failure = reason
        let failures = min(dconf?.failures ?? 0, 16)
        dconf?.failures = failures + 1
        return min(Self.retryDelays.first * (1 << failures), Self.retryDelays.last)
    }

    // MARK: Writing

    /// - Returns: The paths whose values differ in the new file.
    private func writeSettings() async throws -> [String] {
        if let state = dconf, state.changed.count > Self.mostChanged { dconf?.isWholeDue = true }
        if dconf?.isWholeDue == false, let written = dconf?.written {
            do {
                return try await writeChanged(replacing: written)
            } catch is DconfFile.Replaced {
                dconf?.isWholeDue = true
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

    private func writeChanged(replacing written: DconfFile.Written) async throws -> [String] {
        let paths = dconf?.changed ?? []
        dconf?.changed = []
        let updates = try paths.map { ($0, try visibleArchive(of: $0)) }
        do {
            let result = try await onFileThread {
                try $0.write(changed: updates, replacing: written)
            }
            dconf?.written = result.file
            return result.changed
        } catch {
            dconf?.changed.formUnion(paths)
            throw error
        }
    }

    private func writeAll() async throws -> [String] {
        let found = try await onFileThread { try $0.read() }
        if let remark = found.remark { logger.warning("\(remark)") }
        var domains = Set(found.image.paths.compactMap { SettingsPath($0)?.domain })
        // A file that was lost comes back whole.
        if dconf?.written == nil || found.identity == nil {
            domains.formUnion(try await onFileThread { try $0.formerDomains() })
        }
        dconf?.domains.formUnion(domains.filter { !DconfDomains.isPrivate($0) })
        if let bytes = found.foreign {
            try await takeOver(found, bytes)
        }
        let families = try await onFileThread { $0.schemas.families }
        dconf?.families = families
        // What is added to the record from now on is noted.
        let recorded = try recordedDomains().filter { !DconfDomains.isPrivate($0) }
        dconf?.domains.formUnion(recorded)
        dconf?.isWholeDue = false
        dconf?.changed = []
        do {
            var archives = try await allVisibleArchives()
            // So much has changed meanwhile that it was not noted.
            if dconf?.isWholeDue == true { throw DconfFile.Replaced() }
            // What has changed meanwhile is read again, together with everything that it changed with.
            for path in dconf?.changed ?? [] { archives[path] = try visibleArchive(of: path) }
            dconf?.changed = []
            let updates = archives.map { ($0.key, Optional($0.value)) }
            let result = try await onFileThread {
                try $0.write(all: updates, replacing: found.identity)
            }
            dconf?.written = result.file
            return result.changed
        } catch {
            dconf?.isWholeDue = true
            throw error
        }
    }

    // MARK: Reading the database

    /// The layers that programs of GSettings see, the strongest first.
    private func layers(ofSettings domain: String) throws -> [Domain] {
        try [.managed, .host(hosts.this.id), .domain, .system].map {
            try Domain(name: domain, layer: $0)
        }
    }

    func visibleArchive(of path: SettingsPath) throws -> [UInt8]? {
        let key = try Key(path.key)
        for layer in try layers(ofSettings: path.domain) where self.layers.mayHaveKeys(layer) {
            do throws(StorageError) {
                if let stored = try database.value(layer, key) { return stored.archive }
            } catch {
                // After the repair, the change is announced.
                guard error.isDamage, requestRepair(because: error.description) else { throw error }
            }
        }
        return nil
    }

    private func allVisibleArchives() async throws -> [SettingsPath: [UInt8]] {
        let known = try database.domains() + database.domainsOfFiles()
        let domains = Set(known.map(\.name)).filter { dconf?.isPublished($0) == true }
        var archives: [SettingsPath: [UInt8]] = [:]
        var count = 0
        for domain in domains {
            let layers = try layers(ofSettings: domain).filter { self.layers.mayHaveKeys($0) }
            let keys = Set(try layers.flatMap { try database.keys(of: $0) })
            for path in keys.compactMap({ SettingsPath(domain: domain, key: $0.name) }) {
                archives[path] = try visibleArchive(of: path)
                count += 1
                guard count.isMultiple(of: Self.mostReadAtOnce) else { continue }
                await turnOfOthers()
                guard !disk.hasEnded else { throw Self.hasEnded }
            }
        }
        memory.noteWork(onEntries: count)
        return archives
    }

    func turnOfOthers() async {
        await withCheckedContinuation { continuation in
            connection.loop.perform { continuation.resume() }
        }
    }

    /// Works with the file on its thread.
    func onFileThread<Result: Sendable>(
        _ work: @escaping @Sendable (DconfFile) throws -> Result
    ) async throws -> Result {
        guard let file = dconf?.file else { throw Self.hasEnded }
        let thread = try dconf?.thread ?? EventLoop.startThread(named: "dconf")
        dconf?.thread = thread
        return try await withCheckedThrowingContinuation { continuation in
            thread.perform {
                continuation.resume(with: Swift.Result { try work(file) })
            }
        }
    }
}
