import DBus
import DefaultsProtocol
import DefaultsTerms
import Dispatch

/// How changes get to the service; on the loop's thread.
extension BusService {
    /// How long a batch may take: it is checked archive by archive, and may wait for the disk.
    private static let sendingBound = Duration.seconds(60)
    /// How many batches, of as many domains, are on their way at once: the service refuses calls of one
    /// who sends very many.
    private static let mostSent = 16

    /// Sends the next batch of a copy, unless one is on its way, as soon as there is room for it.
    func sendNext(of copy: DomainCopy) {
        guard connection != nil else { return connectIfReleased() }
        if queuedDomains.insert(copy.name).inserted { queue.append(copy) }
        sendQueued()
    }

    /// Sends what there is room for.
    func sendQueued() {
        while connection != nil, !mustGiveWay, sent < Self.mostSent, let copy = queue.popFirst() {
            queuedDomains.remove(copy.name)
            let batch = lock.change { access in access[copy.state].outbox.takeNextToSend() }
            if let batch { send(batch, of: copy) }
        }
        if queue.isEmpty { queue = [] }
    }

    private func send(_ batch: Batch, of copy: DomainCopy) {
        sent += 1
        let attachment = attachment
        let arguments = Contract.Apply.Arguments(
            domain: batch.layer.spelling(of: copy.name),
            set: batch.changes.compactMap { name, entry in
                guard case .archive(let bytes) = entry?.content else { return nil }
                return (name.string, bytes)
            },
            removed: batch.changes.filter { $0.value == nil }.map(\.key.string),
            expected: batch.expected.map { ($0.key.string, $0.value) },
            options: .init(token: batch.token))
        call(Contract.Apply.self, arguments, timeout: Self.sendingBound) { [weak self] outcome in
            guard let self else { return }
            if attachment == self.attachment { sent -= 1 }
            ended(batch, of: copy, outcome, attachment)
            sendQueued()
        }
    }

    private func ended(
        _ batch: Batch, of copy: DomainCopy, _ outcome: Result<UInt64, any Error>, _ attachment: Int
    ) {
        // An answer counts whichever daemon it comes from, because the next one knows the token, too.
        let isAwaited = lock.read { $0[copy.state].outbox.awaitsAnswer(to: batch) }
        guard isAwaited else { return }
        switch outcome {
        case .success(let generation):
            noteAnswer()
            lock.change { access in copy.acknowledge(generation, access) }
            sendNext(of: copy)
        case .failure(let error) where Self.isRefusal(error):
            refused(batch, of: copy, ClientError.telling(error))
            sendNext(of: copy)
        case .failure(let error):
            // Nobody knows whether it was carried out. It is sent again, by its token, to whoever
            // serves next; another attachment has seen to that already.
            guard attachment == self.attachment else { return }
            lock.change { access in access[copy.state].outbox.sendFirstAgain() }
            lost(error, attachment)
        }
    }

    private func refused(_ batch: Batch, of copy: DomainCopy, _ error: any Error) {
        lock.change { access in
            if batch.isMerged {
                access[copy.state].outbox.splitFirst()
            } else {
                copy.refuse(error, access)
            }
        }
    }

    /// Whether an error says that a change was not made, and would not be if it were sent again.
    static func isRefusal(_ error: any Error) -> Bool {
        if error is DefaultsError { return true }
        if let error = error as? ClientError { return error.code != .unreachable }
        guard let error = error as? DBusError else { return true }
        return refusals.contains(error.name)
    }

    /// The errors of the bus and of the marshalling that stand.
    ///
    /// After all others nobody knows what has happened, or it passes.
    private static let refusals: Set<ErrorName> = [
        .invalidArguments, .invalidSignature, .limitsExceeded, .unknownMethod, .unknownObject,
        .unknownInterface, .failed,
    ]
}
