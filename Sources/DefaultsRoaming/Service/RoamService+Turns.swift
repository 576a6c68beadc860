import DefaultsClient
import DefaultsSecrets
import Glibc
import RoamingTerms

/// A turn of the service: it reads what was set up, and makes a round.
extension RoamService {
    func turn() async {
        schedule.begin()
        let waiting = waiters
        waiters = []
        let offered = offer
        offer = nil
        do {
            do {
                try await work(with: offered)
            } catch {
                // Checked once for each problem: mostly the place is the cause.
                guard status.problem != "\(error)", try await replaceDamagedState() else {
                    throw error
                }
                try await work(with: offered)
            }
            schedule.end(hasFailed: false)
            status.problem = ""
            // A request that cannot be met is no failure of roaming.
            let refusal: RoamError? = roamer == nil ? isPaused ? .paused : .turnedOff : nil
            for waiter in waiting {
                if let refusal { waiter.resume(throwing: refusal) } else { waiter.resume() }
            }
        } catch {
            schedule.end(hasFailed: true)
            if offered != nil { await leaveEngine() }
            if status.problem != "\(error)" { log("\(error)") }
            status.problem = "\(error)"
            status.state = .failing
            waiting.forEach { $0.resume(throwing: error) }
        }
        await report()
    }

    /// Renames the state file if it is damaged, so that this replica joins as a new one.
    ///
    /// - Returns: Whether it was.
    private func replaceDamagedState() async throws -> Bool {
        guard let stateFile, stateFile.isDamaged else { return false }
        // What has the file open must not write to it any more.
        await leaveEngine()
        let new = try stateFile.setAside()
        log(
            """
            The state of roaming was damaged. It was renamed to '\(new)', and this machine joins as a \
            new one.
            """)
        return true
    }

    private func readSettings() async throws {
        let read = try await RoamSettings.read(from: defaults)
        for (key, reason) in read.choice.faults {
            log("\(RoamTerms.domain) has an invalid value for \(key): \(reason)")
        }
        if read.place != settings?.place || read.isEnabled != settings?.isEnabled
            || read.isEncrypted != settings?.isEncrypted
        {
            await leaveEngine()
        }
        settings = read
        try await roamer?.change(to: read.choice)
    }

    /// Reads what was set up, and makes a roamer for it.
    private func prepare(with offer: KeyKeeper.Offer?) async throws {
        if areSettingsDue {
            // First: they may change while they are read.
            areSettingsDue = false
            do {
                try await readSettings()
            } catch {
                areSettingsDue = true
                throw error
            }
        }
        if areLocksDue {
            areLocksDue = false
            await roamer?.noteChangedLocks()
        }
        if let offer {
            guard settings?.isEncrypted == true else { throw RoamError.notEncrypted }
            guard !offer.passphrase.isEmpty else { throw RoamError.emptyPassphrase }
            await leaveEngine()
        }
        guard roamer == nil, let settings, settings.isEnabled, let place = settings.place else {
            return
        }
        let path = try await defaults.status().databasePath
        let directory = String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.endIndex))
        stateFile = StateFile(path: "\(directory)/\(RoamState.fileName)")
        var (engine, name) = (try makeEngine(place, directory, loop), "\(place)")
        if settings.isEncrypted {
            engine = sealed(engine, at: place, with: offer)
            name = "encrypted \(place)"
        }
        roamer = try Roamer(
            defaults, at: engine, named: name, stateDirectory: directory, machine: machine,
            choice: settings.choice, on: loop)
        self.engine = engine
    }

    private func sealed(
        _ engine: any Engine, at place: RoamSettings.Place, with offer: KeyKeeper.Offer?
    ) -> any Engine {
        SealedEngine(engine, on: loop) { look in
            if offer == nil, let refused = await self.refusedKeyring { throw refused }
            do {
                return try await self.keys.findKey(of: place, with: offer, look)
            } catch let error as SecretsError {
                if [.dismissed, .locked].contains(error.code) { await self.note(refused: error) }
                throw error
            }
        }
    }

    private func note(refused error: SecretsError) { refusedKeyring = error }

    private func leaveEngine() async {
        await engine?.close()
        (roamer, engine, hearsNews) = (nil, nil, false)
    }

    private func work(with offer: KeyKeeper.Offer?) async throws {
        try await prepare(with: offer)
        guard let roamer else { return }
        status.state = .working
        let (pushed, stored) = try await roamer.round()
        if pushed > 0 { lastPush = .now }
        status.pushed += UInt64(pushed)
        status.stored += UInt64(stored)
        status.lastRound = UInt64(time(nil))
        if !hearsNews {
            try await engine?.onNews { self.assumeIsolated { $0.wake(for: .news) } }
            hearsNews = true
        }
    }

    private func report() async {
        if let roamer {
            if status.problem.isEmpty { status.state = .upToDate }
            status = await roamer.described(in: status)
        } else if status.problem.isEmpty {
            status.state = isPaused ? .paused : .off
        }
        status.unusable = await engine?.problems ?? []
        status.place = settings?.place.map(describe) ?? ""
        onStatus(status)
    }

    /// Whether a place was set, and roaming is turned off for now.
    private var isPaused: Bool { settings?.place != nil && settings?.isEnabled == false }
}
