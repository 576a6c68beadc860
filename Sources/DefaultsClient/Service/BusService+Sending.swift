import DBus
import DefaultsProtocol
import DefaultsTerms
import Dispatch

/// Sending changes to the service; on the loop's thread.
extension BusService {
    /// How long to wait for the answer to a batch: each archive is validated, and the disk may be slow.
    private static let sendingBound = Duration.seconds(60)
    /// How many batches, each of another domain, are in flight at once: the service limits the calls of
    /// a client.
    private static let mostSent = 16

    /// Sends the next batch of a copy as soon as possible, unless one is in flight.
    func sendNext(of copy: DomainCopy) {
        guard connection != nil else { return connectIfReleased() }
        if queuedDomains.insert(copy.name).inserted { queue.append(copy) }
        sendQueued()
    }

    /// Sends as many batches as may be in flight.
    func sendQueued() {
        while connection != nil, !mustGiveWay, direct.isOpen, sent < Self.mostSent,
            let copy = queue.popFirst()
        {
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
            refused(batch, of: copy, .refusal(error))
            sendNext(of: copy)
        case .failure(let error):
            // It is not known whether the change was made. It is sent again with its token. After a new
            // attachment that has already happened.
            guard attachment == self.attachment else { return }
            lock.change { access in access[copy.state].outbox.sendFirstAgain() }
            lost(error, attachment)
        }
    }

    private func refused(_ batch: Batch, of copy: DomainCopy, _ error: DefaultsError) {
        lock.change { access in
            if batch.isMerged {
                access[copy.state].outbox.splitFirst()
            } else {
                copy.refuse(error, access)
            }
        }
    }

    /// Whether an error means that the change was not made, and that a retry would not help.
    static func isRefusal(_ error: any Error) -> Bool {
        if error is ContractError { return true }
        if let error = error as? DefaultsError { return error.code != .unreachable }
        guard let error = error as? DBusError else { return true }
        return refusals.contains(error.name)
    }

    /// The errors of the bus and of marshalling that a retry would not change.
    ///
    /// After other errors it is not known what has happened, or the problem is temporary.
    private static let refusals: Set<ErrorName> = [
        .invalidArguments, .invalidSignature, .limitsExceeded, .unknownMethod, .unknownObject,
        .unknownInterface, .failed,
    ]
}
