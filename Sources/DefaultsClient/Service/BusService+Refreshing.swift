import DBus
import DefaultsProtocol
import DefaultsTerms
import Dispatch
import Synchronization
import SystemCalls

/// How copies become current.
extension BusService {
    /// How many domains, of four layers each, one call asks for.
    private static let mostAttached = 256

    func makeCurrent(_ copies: [DomainCopy]) {
        // On the loop's thread nobody else would read the answer.
        guard let loop, !loop.isCurrent else { return }
        let answered = DispatchSemaphore(value: 0)
        let asked = lock.withLock {
            guard mayAnswer(copies) else { return [] as [DomainCopy] }
            let stale = copies.filter { !$0.isCurrent }
            for copy in stale { copy.questions.wait { answered.signal() } }
            return stale
        }
        guard !asked.isEmpty else { return }
        onLoop { $0.refresh(asked) }
        guard wait(for: answered, count: asked.count) else { return noteSilence() }
    }

    /// Waits for a semaphore, as long as there may be an answer.
    ///
    /// While something comes from the bus, the answer may stand behind it: a process that was stopped
    /// for a while has all signals of that time before it. Where the wait ends much too late, this
    /// process was stopped meanwhile, or had no processor.
    ///
    /// - Returns: Whether it was signalled that often.
    func wait(for answered: DispatchSemaphore, count: Int = 1) -> Bool {
        let patience = DispatchTimeInterval.seconds(
            Int(lock.reading { waitBound }.components.seconds))
        var waits = 0
        for _ in 0..<count {
            while true {
                let seen = progress.load(ordering: .relaxed)
                let end = DispatchTime.now() + patience
                if answered.wait(timeout: end) == .success { break }
                waits += 1
                let isMoving =
                    progress.load(ordering: .relaxed) != seen || DispatchTime.now() > end + patience
                guard isMoving, waits < Self.mostWaits else { return false }
            }
        }
        return true
    }

    // MARK: On the loop's thread

    /// Asks for what has changed in copies that are not current.
    func refresh(_ copies: [DomainCopy]) {
        let stale = lock.withLock { copies.filter { !$0.endWaitsIfCurrent(lock) } }
        guard !stale.isEmpty else { return }
        guard connection != nil else { return connect() }
        let (read, unread) = lock.reading {
            (stale.filter(\.canCatchUp), stale.filter { !$0.canCatchUp })
        }
        for copy in read { catchUp(copy) }
        attach(unread)
    }

    /// Asks for whole domains.
    func attach(_ copies: [DomainCopy]) {
        guard connection != nil else { return }
        var rest = lock.reading { copies.filter { $0.questions.begin() } }[...]
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
        call(Contract.Attach.self, domains) { [weak self] outcome in
            guard let self, attachment == self.attachment else { return }
            switch outcome {
            case .success(let reply):
                let answer = Attachment(reply)
                let page = page(answer.page)
                took(copies) { copy in
                    copy.take(
                        answer.reading(of: copy.name),
                        counter: answer.counter(of: copy.name, on: page))
                }
            case .failure(let error): refused(copies, error)
            }
        }
    }

    /// The page that was sent: the one that is mapped, for a daemon has one until it voids it.
    private func page(_ file: FileDescriptor) -> CounterPage? {
        if let mapped, !mapped.isVoid { return mapped }
        mapped = CounterPage(file)
        return mapped
    }

    /// Asks for what has changed in one copy since it was read.
    private func catchUp(_ copy: DomainCopy) {
        guard lock.reading({ copy.questions.begin() }) else { return }
        let (layers, since) = lock.reading { (copy.changedLayers, copy.generation) }
        ask(copy, layers, since: since)
    }

    /// Asks for changes of layers, all at once, and takes the answers together.
    private func ask(_ copy: DomainCopy, _ layers: [LayerName], since: UInt64) {
        let attachment = attachment
        let answers = Gathering<LayerChanges>(layers.count) { [weak self] answers in
            guard let self, attachment == self.attachment else { return }
            switch answers {
            case .success(let changes): took([copy]) { $0.take(changes, since: since) }
            case .failure(let error): refused([copy], error)
            }
        }
        for layer in layers {
            call(Contract.GetChanges.self, (layer.spelling(of: copy.name), since)) {
                answers.add($0.map { LayerChanges(of: layer, $0) })
            }
        }
    }

    /// Has copies take what was answered, and asks again for those that are not current by it.
    private func took(_ copies: [DomainCopy], _ take: (DomainCopy) -> Bool) {
        noteAnswer()
        // Before readers go on: they may ask for the state next.
        enterAnswering()
        let again = lock.withLock {
            copies.filter { copy in
                copy.endAsking(isRead: take(copy), lock)
            }
        }
        refresh(again)
    }

    /// Does what is right where copies could not be read.
    private func refused(_ copies: [DomainCopy], _ error: any Error) {
        lock.reading { for copy in copies { copy.questions.end() } }
        guard let refusal = error as? DefaultsError else { return lost(error, attachment) }
        if refusal.code == .accessDenied && !isConfined {
            isConfined = true
            attach(copies)
        } else if copies.count > 1 {
            // One of them is no domain, or they are too much for one answer.
            for copy in copies { attach([copy]) }
        } else {
            noteAnswer()
            enterAnswering()
            lock.withLock { for copy in copies { copy.refuseReading(lock) } }
        }
    }

    /// Calls a method of the service.
    func call<C: Call>(
        _ method: C.Type, _ arguments: C.Arguments, timeout: Duration = .seconds(25),
        completion: @escaping @Sendable (Result<C.Reply, any Error>) -> Void
    ) {
        guard let connection else {
            connectIfReleased()
            return completion(.failure(ClientError.unreachable("There is no connection.")))
        }
        callsInFlight += 1
        connection.assumeIsolated { connection in
            connection.call(method, arguments, timeout: timeout) { [weak self] outcome in
                if case .success = outcome { self?.progress.add(1, ordering: .relaxed) }
                completion(outcome)
                self?.noteCallEnded()
            }
        }
    }
}

/// Answers that are used when all have come; on the loop's thread.
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
