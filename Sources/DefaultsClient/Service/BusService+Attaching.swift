import DBus
import DefaultsProtocol

/// How copies become current; on the loop's thread.
extension BusService {
    /// How many domains one call asks for.
    private static let mostAttached = 1024

    /// Asks for copies that are not current.
    func refresh(_ copies: [DomainCopy]) {
        let stale = lock.withLock {
            copies.filter { copy in
                guard copy.isCurrent else { return true }
                end(copy.takeWaiting())
                return false
            }
        }
        guard !stale.isEmpty else { return }
        if connection == nil { connect() } else { attach(stale) }
    }

    /// Asks for whole domains, where that is not under way already.
    func attach(_ copies: [DomainCopy]) {
        let asked = lock.reading {
            let asked = copies.filter { !$0.isRefreshing }
            for copy in asked { copy.beginRefresh() }
            return asked
        }
        var rest = asked[...]
        while !rest.isEmpty {
            let part = Array(rest.prefix(Self.mostAttached / CopyLayer.allCases.count))
            rest = rest.dropFirst(part.count)
            if isConfined { readAll(part) } else { attachAtOnce(part) }
        }
    }

    private func attachAtOnce(_ copies: [DomainCopy]) {
        let attachment = attachment
        call(Contract.attach) { writer in
            try writer.writeStrings(
                copies.flatMap { copy in CopyLayer.allCases.map { $0.spelling(of: copy.name) } })
        } read: { reader in
            try Attachment(&reader)
        } completion: { [weak self] outcome in
            guard let self, attachment == self.attachment else { return }
            switch outcome {
            case .success(let answer): take(answer, for: copies)
            case .failure(let error): notAttached(copies, error)
            }
        }
    }

    private func take(_ answer: Attachment, for copies: [DomainCopy]) {
        let page = page(answer.page)
        let unanswered = lock.withLock {
            copies.filter { copy in
                !take(
                    answer.reading(of: copy.name), counter: answer.counter(of: copy.name, on: page),
                    for: copy)
            }
        }
        hasAnswered(page == nil ? .following : .current)
        attach(unanswered)
        askAgain(for: copies)
    }

    /// Gives a copy what was read; under the lock.
    ///
    /// - Returns: False where it has to be read once more: it was older than what is known already, or
    ///   somebody waits who came after it was asked for.
    private func take(_ reading: DomainCopy.Reading, counter: Counter?, for copy: DomainCopy) -> Bool {
        copy.isRefreshing = false
        guard copy.take(reading, counter: counter) else { return false }
        end(copy.takeAnswered())
        return copy.waiting.isEmpty
    }

    /// Notes that all is well with the service.
    private func hasAnswered(_ state: DefaultsState) {
        retryDelay = Self.firstRetry
        hasFailed = false
        enter(state)
    }

    /// Asks once more for copies that somebody else has changed meanwhile, where that is watched.
    private func askAgain(for copies: [DomainCopy]) {
        let stale = lock.reading { copies.filter { $0.isObserved && !$0.isCurrent } }
        let changed = lock.reading { stale.filter { $0.foreignGeneration > $0.generation } }
        if !changed.isEmpty { attach(changed) }
    }

    /// The page that was sent: the one that is mapped, for a daemon has one until it voids it.
    private func page(_ file: FileDescriptor) -> CounterPage? {
        if let mapped, !mapped.isVoid { return mapped }
        mapped = CounterPage(file)
        return mapped
    }

    private func notAttached(_ copies: [DomainCopy], _ error: any Error) {
        lock.withLock { for copy in copies { copy.isRefreshing = false } }
        switch error {
        case let error as DefaultsError where error.code == .accessDenied:
            isConfined = true
            attach(copies)
        case let error as DefaultsError where copies.count > 1:
            // One of them is no domain, or they are too much for one answer.
            _ = error
            for copy in copies { attach([copy]) }
        case let error as DefaultsError:
            // This one cannot be read; the others can.
            lock.withLock {
                for copy in copies {
                    copy.refuse(reading: error)
                    end(copy.takeWaiting())
                }
            }
            hasAnswered(isConfined ? .following : .current)
        default:
            failed(error, attachment: attachment)
        }
    }

    // MARK: Confined

    /// Reads whole domains layer by layer, for a process that may not map the page.
    private func readAll(_ copies: [DomainCopy]) {
        for copy in copies { read(copy, CopyLayer.allCases[...], into: [:], at: .max) }
    }

    private func read(
        _ copy: DomainCopy, _ layers: ArraySlice<CopyLayer>,
        into read: [CopyLayer: [String: Entry]],
        at generation: UInt64
    ) {
        guard let layer = layers.first else {
            return takeRead(copy, read, at: generation)
        }
        let attachment = attachment
        call(Contract.getChanges) { writer in
            try writer.writeString(layer.spelling(of: copy.name))
            try writer.writeUInt64(0)
        } read: { reader in
            let entries = try reader.readEntries()
            let large = try reader.readStrings()
            _ = try reader.readStrings()
            let generation = try reader.readUInt64()
            _ = try reader.readBool()
            return (Attachment.entries(entries, large), generation)
        } completion: { [weak self] outcome in
            guard let self, attachment == self.attachment else { return }
            switch outcome {
            case .success(let (entries, now)):
                var read = read
                read[layer] = entries
                self.read(copy, layers.dropFirst(), into: read, at: min(generation, now))
            case .failure(let error): notAttached([copy], error)
            }
        }
    }

    private func takeRead(
        _ copy: DomainCopy, _ layers: [CopyLayer: [String: Entry]], at generation: UInt64
    ) {
        let isAnswered = lock.withLock {
            take(
                DomainCopy.Reading(layers: layers, locks: nil, generation: generation),
                counter: nil, for: copy)
        }
        hasAnswered(.following)
        if isAnswered { askAgain(for: [copy]) } else { attach([copy]) }
    }

    // MARK: Calls

    /// Calls a method of the service.
    func call<Reply: Sendable>(
        _ method: MethodDeclaration, timeout: Duration = .seconds(25),
        write: @Sendable (inout MessageWriter) throws -> Void,
        read: @escaping @Sendable (inout MessageReader) throws -> Reply,
        completion: @escaping @Sendable (Result<Reply, any Error>) -> Void
    ) {
        guard let connection else {
            return completion(.failure(ClientError.unreachable("There is no connection.")))
        }
        connection.assumeIsolated { connection in
            connection.call(
                Contract.busName, Contract.objectPath, Contract.interface, method.name,
                timeout: timeout, replying: method.outputSignature, write: write, read: read,
                completion: { outcome in
                    completion(
                        outcome.mapError { ($0 as? DBusError).flatMap(DefaultsError.init) ?? $0 })
                })
        }
    }
}
