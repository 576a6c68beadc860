import DBus
import DefaultsProtocol
import DefaultsTerms
import Dispatch
import Synchronization
import SystemCalls

/// Making copies current.
extension BusService {
    /// How many domains, of four layers each, one call asks for.
    private static let mostAttached = 256

    func makeCurrent(_ copies: [DomainCopy]) {
        // The loop's thread reads the answers, so it must not wait.
        guard let loop, !loop.isCurrent else { return }
        let answered = DispatchSemaphore(value: 0)
        let asked = lock.change { access in
            guard mayAnswer(copies, access.read) else { return [] as [DomainCopy] }
            let stale = copies.filter { !access[$0.state].isCurrent }
            for copy in stale { access[copy.state].requests.wait { answered.signal() } }
            return stale
        }
        guard !asked.isEmpty else { return }
        onLoop { $0.refresh(asked) }
        guard wait(for: answered, count: asked.count) else { return noteSilence() }
    }

    func prefetch(_ copies: [DomainCopy]) {
        onLoop { $0.refresh(copies) }
    }

    /// Waits for a semaphore, as long as there may be an answer.
    ///
    /// While something comes from the bus, the answer may still follow: a process that was stopped for
    /// a while gets all signals of that time first. While the bus starts the service, it says what comes of
    /// it: on a busy machine a start takes its time. If the wait ends much too late, this process was
    /// stopped meanwhile, or had no processor.
    ///
    /// - Returns: Whether it was signalled `count` times.
    func wait(for answered: DispatchSemaphore, count: Int = 1) -> Bool {
        let patience = DispatchTimeInterval.seconds(Int(waitBound.components.seconds))
        var waits = 0
        for _ in 0..<count {
            while true {
                let seen = progress.load(ordering: .relaxed)
                let end = DispatchTime.now() + patience
                if answered.wait(timeout: end) == .success { break }
                waits += 1
                let isMoving =
                    progress.load(ordering: .relaxed) != seen
                    || isWithoutOwner.load(ordering: .relaxed)
                    || DispatchTime.now() > end + patience
                guard isMoving, waits < Self.mostWaits else { return false }
            }
        }
        return true
    }

    // MARK: On the loop's thread

    /// Asks for what has changed in copies that are not current.
    func refresh(_ copies: [DomainCopy]) {
        let stale = lock.change { access in
            copies.filter { !access[$0.state].endWaitsIfCurrent(access) }
        }
        guard !stale.isEmpty else { return }
        guard connection != nil else { return connect() }
        let known = lock.read { access in stale.map { access[$0.state].canCatchUp } }
        for (copy, isKnown) in zip(stale, known) where isKnown { catchUp(copy) }
        attach(zip(stale, known).filter { !$1 }.map(\.0))
    }

    /// Asks for whole domains.
    func attach(_ copies: [DomainCopy]) {
        guard connection != nil else { return }
        var rest = lock.change { access in
            copies.filter { access[$0.state].requests.begin() }
        }[...]
        while !rest.isEmpty {
            let part = Array(rest.prefix(Self.mostAttached))
            rest = rest.dropFirst(part.count)
            if isConfined {
                for copy in part { ask(copy, LayerName.allCases, since: 0) }
            } else {
                attachAtOnce(part)
            }
        }
    }

    private func attachAtOnce(_ copies: [DomainCopy]) {
        let attachment = attachment
        let domains = copies.flatMap { copy in
            LayerName.allCases.map { $0.spelling(of: copy.name) }
        }
        let completion: @Sendable (Result<AttachReply<[UInt8]>, any Error>) -> Void = {
            [weak self] outcome in
            guard let self, attachment == self.attachment else { return }
            switch outcome {
            case .success(let reply):
                let answer = Attachment(reply)
                let page = page(answer.page)
                took(copies) { copy, access in
                    copy.take(
                        answer.reading(of: copy.name),
                        counter: answer.counter(of: copy.name, on: page), access)
                }
            case .failure(let error): refused(copies, error)
            }
        }
        if direct.isUsed {
            call(Contract.Follow.self, domains, completion: completion)
        } else {
            call(Contract.Attach.self, domains, completion: completion)
        }
    }

    /// The page that was sent; the mapped one, if it is still valid, because a daemon has one valid page.
    private func page(_ file: FileDescriptor) -> CounterPage? {
        if let mapped, !mapped.isVoid { return mapped }
        mapped = CounterPage(file)
        return mapped
    }

    /// Asks for what has changed in one copy since it was read.
    private func catchUp(_ copy: DomainCopy) {
        let (isNew, layers, since) = lock.change { access in
            (
                access[copy.state].requests.begin(), access[copy.state].changedLayers,
                access[copy.state].generation
            )
        }
        if isNew { ask(copy, layers, since: since) }
    }

    /// Asks for the changes of layers at once, and takes the answers together.
    private func ask(_ copy: DomainCopy, _ layers: [LayerName], since: UInt64) {
        let attachment = attachment
        let answers = Gathering<LayerChanges>(layers.count) { [weak self] answers in
            guard let self, attachment == self.attachment else { return }
            switch answers {
            case .success(let changes): took([copy]) { $0.take(changes, since: since, $1) }
            case .failure(let error): refused([copy], error, inParts: true)
            }
        }
        for layer in layers {
            call(Contract.GetChanges.self, (layer.spelling(of: copy.name), since)) {
                answers.add($0.map { LayerChanges(of: layer, $0) })
            }
        }
    }

    /// Has copies take the answer, and asks again for those that are not current with it.
    private func took(
        _ copies: [DomainCopy], _ take: (DomainCopy, borrowing WriteAccess) -> Bool
    ) {
        noteAnswer()
        // Before the readers continue, because they may ask for the state next.
        enterAnswering()
        let again = lock.change { access in
            copies.filter { $0.endRequest(isRead: take($0, access), access) }
        }
        refresh(again)
    }

    /// Handles a failure to read copies.
    ///
    /// - Parameter inParts: Whether each layer was asked for by itself.
    private func refused(_ copies: [DomainCopy], _ error: any Error, inParts: Bool = false) {
        lock.change { access in
            for copy in copies { access[copy.state].requests.end() }
        }
        guard let refusal = error as? ContractError else { return lost(error, attachment) }
        if refusal.code == .limitsExceeded {
            refusedForNow(copies, inParts: inParts)
        } else if refusal.code == .accessDenied && !isConfined {
            isConfined = true
            attach(copies)
        } else if copies.count > 1 {
            // One of the names is invalid, or they are too much for one answer.
            for copy in copies { attach([copy]) }
        } else {
            noteAnswer()
            enterAnswering()
            lock.change { access in
                for copy in copies { access[copy.state].refuseReading(access) }
            }
        }
    }

    /// Goes on after the service had no room for an answer.
    ///
    /// The service is there, but what it has is not known. So readers that wait go on waiting.
    private func refusedForNow(_ copies: [DomainCopy], inParts: Bool) {
        progress.add(1, ordering: .relaxed)
        // The bus has a share of its own for this process.
        if direct.isUsed { return leaveSocket(.closed) }
        if inParts { return retrySoon() }
        // Smaller answers, for which there may be room. Signals tell of later changes.
        let begun = lock.change { access in
            copies.filter { access[$0.state].requests.begin() }
        }
        for copy in begun { ask(copy, LayerName.allCases, since: 0) }
    }

    /// Calls a method of the service.
    func call<C: Call>(
        _ method: C.Type, _ arguments: C.Arguments, timeout: Duration = .seconds(25),
        completion: @escaping @Sendable (Result<C.Reply, any Error>) -> Void
    ) {
        guard let connection else {
            connectIfReleased()
            return completion(.failure(DefaultsError.unreachable("There is no connection.")))
        }
        callsInFlight += 1
        connection.assumeIsolated { connection in
            connection.call(method, arguments, timeout: timeout) { [weak self] outcome in
                if case .success = outcome { self?.progress.add(1, ordering: .relaxed) }
                completion(outcome)
                self?.noteCallEnded()
                if case .success = outcome { self?.returnToSocket() }
            }
        }
    }
}

/// Collects answers until all have come; on the loop's thread.
private final class Gathering<Answer: Sendable>: @unchecked Sendable {
    private var answers: [Answer] = []
    private var missing: Int
    private var failure: (any Error)?
    private let done: (Result<[Answer], any Error>) -> Void

    init(_ count: Int, done: @escaping (Result<[Answer], any Error>) -> Void) {
        missing = count
        self.done = done
    }

    func add(_ outcome: Result<Answer, any Error>) {
        missing -= 1
        switch outcome {
        case .success(let answer): answers.append(answer)
        case .failure(let error): failure = failure ?? error
        }
        if missing == 0 { done(failure.map { .failure($0) } ?? .success(answers)) }
    }
}

/// The reply to `Attach`.
private struct Attachment {
    private struct Domain: Sendable {
        let slot: UInt32
        let entries: [KeyName: Entry]
        let locked: [String]
    }

    let page: FileDescriptor
    private let domains: [String: Domain]
    private let generation: UInt64

    init(_ reply: AttachReply<[UInt8]>) {
        page = reply.page
        generation = reply.generation
        let domains = reply.domains.map {
            (
                $0.spelling,
                Domain(
                    slot: $0.slot, entries: Entry.entries(sent: $0.entries, named: $0.large),
                    locked: $0.locked)
            )
        }
        self.domains = Dictionary(domains) { first, _ in first }
    }

    /// The layers of a domain.
    func reading(of name: String) -> LayerReading {
        var layers: [LayerName: [KeyName: Entry]] = [:]
        for layer in LayerName.allCases {
            layers[layer] = domains[layer.spelling(of: name)]?.entries ?? [:]
        }
        return LayerReading(
            layers: layers, locks: LockedNames(domains[name]?.locked ?? []), generation: generation)
    }

    /// The word of the page that counts a domain's changes.
    func counter(of name: String, on page: CounterPage?) -> Counter? {
        domains[name].flatMap { page?.counter(atWord: $0.slot) }
    }
}
