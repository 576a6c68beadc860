internal import DefaultsRoaming

// Invariants
//
// 1. The server writes a visit after it has read the revision that it gives to the replica. So a state of
//    the server that has the visit has all changes up to that revision.
// 2. A replica reads changes only up to the revision of its last visit, or of its last batch. So what it
//    knows is in each state of the server that has both.
// 3. The number of visits only rises. So if the two sides differ, the one with the smaller number was put
//    back or copied.

/// One time that a replica met the server, which both remember.
struct Visit: Equatable {
    /// One more than that of the visit before.
    let number: UInt64
    /// 16 random bytes, so that two visits of the same number differ.
    let nonce: [UInt8]

    /// The one after some others.
    static func next(after visits: [Visit?]) -> Visit {
        // A number near the largest one comes only from a damaged row.
        let last = visits.compactMap { $0?.number }.max() ?? 0
        return Visit(number: last &+ 1, nonce: ReplicaID.random().bytes)
    }
}

extension Visit {
    /// The number of bytes of a stored visit.
    static let size = 24

    /// The form in which it is stored.
    var bytes: [UInt8] { number.bigEndianBytes + nonce }

    /// The visit that bytes are; nil if they are none.
    init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.size else { return nil }
        number = UInt64(bigEndianBytes: bytes.prefix(8))
        nonce = Array(bytes.suffix(16))
    }
}

/// What a replica remembers of the server, as ``Meeting/place``.
struct MeetingPlace: Equatable {
    /// The account, which has another number after it was removed and added again.
    let account: [UInt8]
    /// The last visit.
    let visit: Visit
    /// The revision at that time.
    let revision: UInt64
    /// The last batch that the server has lost and that is known to be lost.
    let lostBatch: UInt64

    private static let version: UInt8 = 1

    /// The bytes for the replica.
    var bytes: [UInt8] {
        [Self.version] + account + visit.bytes + lostBatch.bigEndianBytes + revision.bigEndianBytes
    }

    init(account: [UInt8], visit: Visit, revision: UInt64, lostBatch: UInt64) {
        self.account = account
        self.visit = visit
        self.revision = revision
        self.lostBatch = lostBatch
    }

    /// The place that bytes are; nil if they are none.
    init?(bytes: [UInt8]) {
        guard bytes.count == 1 + 16 + Visit.size + 16, bytes[0] == Self.version,
            let visit = Visit(bytes: bytes[17..<(17 + Visit.size)])
        else { return nil }
        account = Array(bytes[1..<17])
        self.visit = visit
        lostBatch = UInt64(bigEndianBytes: bytes.suffix(16).prefix(8))
        revision = UInt64(bigEndianBytes: bytes.suffix(8))
    }
}

/// What the server remembers of a replica.
struct ReplicaRow: Equatable {
    var push: UInt64 = 0
    var pushNonce: [UInt8]?
    var pulled: UInt64 = 0
    var isForgotten = false
    /// The last visit, and the revision at that time.
    var visit: Visit
    var visitRevision: UInt64 = 0
    /// The visit that the replica had before; the reply with the last one may have been lost.
    var visitBefore: Visit?
    /// Whether a replica with the visit before is to hear that the server was put back.
    var isRewound = false
}

/// What both sides remember, compared.
struct Encounter {
    let known: [UInt8]?
    let lastBatch: (number: UInt64, nonce: [UInt8], isAnswered: Bool)?
    /// nil if the server knows nothing of the replica.
    let row: ReplicaRow?
    let account: [UInt8]
    /// The revision up to which removals are forgotten.
    let purged: UInt64
    /// The last revision at which a replica was here whose row was dropped; nil if there was none.
    let dropped: UInt64?

    private var place: MeetingPlace? { known.flatMap(MeetingPlace.init(bytes:)) }

    /// What the replica is to the server.
    var state: Meeting.State {
        guard let row else { return stateWithoutRow }
        if row.isForgotten || row.pulled < purged || isBatchOfAnother(row) { return .mustJoinAnew }
        guard known != nil else { return row.visitBefore == nil ? .continued : .mustJoinAnew }
        guard let place, place.account == account else { return .rewound }
        if place.visit == row.visitBefore {
            if row.isRewound { return .rewound }
        } else if place.visit != row.visit {
            return place.visit.number > row.visit.number ? .rewound : .mustJoinAnew
        }
        return isBatchLost(row, place) ? .rewound : .continued
    }

    /// The revision up to which a server that was put back has all that it had; 0 if that is not known.
    ///
    /// Invariant 1 says so for the last visit, if that was before the server was put back.
    var shared: UInt64 {
        guard let row, let place, place.account == account, !row.isRewound else { return 0 }
        return row.visitRevision
    }

    /// What the replica is if the server knows nothing of it.
    ///
    /// Its row was dropped, or the server was put back to a time before it had one. In the second case,
    /// the replica was here at a later revision than any whose row was dropped by then.
    private var stateWithoutRow: Meeting.State {
        guard known != nil else { return .continued }
        guard let place, place.account == account else { return .rewound }
        let isDropped = dropped.map { place.revision <= $0 } ?? false
        return isDropped || place.revision < purged ? .mustJoinAnew : .rewound
    }

    /// Whether someone else has pushed under the name of the replica.
    private func isBatchOfAnother(_ row: ReplicaRow) -> Bool {
        guard let lastBatch else { return row.push > 0 }
        return row.push > lastBatch.number
            || row.push == lastBatch.number && row.pushNonce != lastBatch.nonce
    }

    /// Whether the server does not know a batch that it has answered.
    private func isBatchLost(_ row: ReplicaRow, _ place: MeetingPlace) -> Bool {
        guard let lastBatch, lastBatch.isAnswered else { return false }
        return row.push < lastBatch.number && place.lostBatch < lastBatch.number
    }

    /// What the server is to remember from now on, if the replica goes on.
    ///
    /// - Parameter revision: The revision that the replica is given.
    func next(_ state: Meeting.State, at revision: UInt64) -> ReplicaRow {
        var next = row ?? ReplicaRow(pulled: purged, visit: .next(after: []))
        let visit = place?.visit
        let isRepeated = visit != nil && visit == row?.visitBefore
        let isSame = row != nil && (visit == row?.visit || isRepeated || known == nil)
        if state == .rewound {
            // A repeated answer is the same one.
            if isRepeated, next.isRewound, next.visitRevision == revision { return next }
            next.isRewound = true
        } else {
            if isSame, next.visitRevision == revision { return next }
            next.isRewound = false
        }
        next.visit = .next(after: [row?.visit, visit])
        next.visitBefore = visit
        next.visitRevision = revision
        return next
    }

    /// What the replica is to remember from now on.
    func nextPlace(_ state: Meeting.State, _ row: ReplicaRow) -> MeetingPlace {
        let lost = state == .rewound ? lastBatch.map { $0.isAnswered ? $0.number : 0 } ?? 0 : 0
        return MeetingPlace(
            account: account, visit: row.visit, revision: row.visitRevision,
            lostBatch: max(lost, place?.lostBatch ?? 0))
    }
}

extension UInt64 {
    var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }

    init(bigEndianBytes bytes: some Collection<UInt8>) {
        self = bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
