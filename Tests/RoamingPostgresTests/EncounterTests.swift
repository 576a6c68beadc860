import DefaultsRoaming
import TestTiers
import Testing

@testable import RoamingPostgres

/// What a replica and a server remember, compared without a server.
@Suite(.startsPrograms) struct EncounterTests {
    private let account = ReplicaID.random().bytes
    private let nonce = ReplicaID.random().bytes

    private func encounter(
        _ known: MeetingPlace?, _ row: ReplicaRow?, batch: UInt64? = nil, isAnswered: Bool = true,
        purged: UInt64 = 0, dropped: UInt64? = nil
    ) -> Encounter {
        Encounter(
            known: known?.bytes, lastBatch: batch.map { ($0, nonce, isAnswered) }, row: row,
            account: account, purged: purged, dropped: dropped)
    }

    private func place(_ visit: Visit, at revision: UInt64 = 0) -> MeetingPlace {
        MeetingPlace(account: account, visit: visit, revision: revision, lostBatch: 0)
    }

    @Test func `A place survives its bytes`() {
        let place = place(.next(after: []), at: 9)
        #expect(MeetingPlace(bytes: place.bytes) == place)
        #expect(MeetingPlace(bytes: Array(place.bytes.dropLast())) == nil)
        #expect(MeetingPlace(bytes: [2] + place.bytes.dropFirst()) == nil)
        #expect(MeetingPlace(bytes: []) == nil)
        #expect(Visit.next(after: [Visit(number: .max, nonce: nonce)]).number == 0)
    }

    @Test func `What is known on both sides goes on`() {
        let visit = Visit.next(after: [])
        var row = ReplicaRow(visit: visit)
        #expect(encounter(nil, nil).state == .continued)
        #expect(encounter(nil, row).state == .continued)
        #expect(encounter(place(visit), row).state == .continued)
        // A reply was lost.
        let next = encounter(place(visit), row).next(.continued, at: 7)
        #expect(next.visit != visit)
        #expect(encounter(place(visit), next).state == .continued)
        #expect(encounter(place(next.visit), next).state == .continued)
        // Nothing has changed since.
        #expect(encounter(place(next.visit), next).next(.continued, at: 7) == next)
        (row.push, row.pushNonce) = (3, nonce)
        #expect(encounter(place(visit), row, batch: 3).state == .continued)
        #expect(encounter(place(visit), row, batch: 4, isAnswered: false).state == .continued)
    }

    @Test func `A server that knows less was put back, until the replica has heard of it`() {
        let (old, new) = (Visit(number: 4, nonce: nonce), Visit(number: 5, nonce: nonce))
        let row = ReplicaRow(visit: old)
        for encounter in [
            encounter(place(new), row), encounter(place(new), nil),
            encounter(place(old), row, batch: 1),
        ] {
            #expect(encounter.state == .rewound)
            let next = encounter.next(.rewound, at: 2)
            let known = Encounter(
                known: encounter.known, lastBatch: encounter.lastBatch, row: next,
                account: account, purged: 0, dropped: nil)
            #expect(known.state == .rewound)
            #expect(known.next(.rewound, at: 2) == next)
            let heard = Encounter(
                known: encounter.nextPlace(.rewound, next).bytes, lastBatch: encounter.lastBatch,
                row: next, account: account, purged: 0, dropped: nil)
            #expect(heard.state == .continued)
            #expect(heard.next(.continued, at: 3).isRewound == false)
        }
        let other = MeetingPlace(account: nonce, visit: old, revision: 0, lostBatch: 0)
        #expect(encounter(other, row).state == .rewound)
    }

    @Test func `A server that was put back has what it had at the last visit that it knows`() {
        let (old, new) = (Visit(number: 4, nonce: nonce), Visit(number: 5, nonce: nonce))
        var row = ReplicaRow(visit: old, visitRevision: 7)
        #expect(encounter(place(new, at: 9), row).shared == 7)
        #expect(encounter(place(new, at: 9), nil).shared == 0)
        #expect(encounter(nil, row).shared == 0)
        // The visit was after the server was put back.
        row.isRewound = true
        #expect(encounter(place(new, at: 9), row).shared == 0)
        row.isRewound = false
        let other = MeetingPlace(account: nonce, visit: new, revision: 9, lostBatch: 0)
        #expect(encounter(other, row).shared == 0)
    }

    @Test func `A replica whose row was dropped joins anew, unless the server was put back`() {
        let visit = Visit(number: 4, nonce: nonce)
        #expect(encounter(place(visit, at: 5), nil, dropped: 5).state == .mustJoinAnew)
        #expect(encounter(place(visit, at: 5), nil, dropped: 9).state == .mustJoinAnew)
        #expect(encounter(place(visit, at: 5), nil, dropped: 4).state == .rewound)
        #expect(encounter(place(visit, at: 0), nil).state == .rewound)
        #expect(encounter(place(visit, at: 5), nil, purged: 6).state == .mustJoinAnew)
        #expect(encounter(place(visit, at: 5), nil, purged: 5).state == .rewound)
        #expect(encounter(nil, nil, purged: 6, dropped: 9).state == .continued)
        let other = MeetingPlace(account: nonce, visit: visit, revision: 1, lostBatch: 0)
        #expect(encounter(other, nil, dropped: 9).state == .rewound)
    }

    @Test func `A replica that knows less, or otherwise, joins anew`() {
        let (old, new) = (Visit(number: 4, nonce: nonce), Visit(number: 6, nonce: nonce))
        var row = ReplicaRow(visit: new, visitBefore: Visit(number: 5, nonce: nonce))
        #expect(encounter(place(old), row).state == .mustJoinAnew)
        #expect(encounter(nil, row).state == .mustJoinAnew)
        #expect(encounter(place(Visit(number: 6, nonce: account)), row).state == .mustJoinAnew)
        row.isForgotten = true
        #expect(encounter(place(new), row).state == .mustJoinAnew)
        row.isForgotten = false
        #expect(encounter(place(new), row, purged: 1).state == .mustJoinAnew)
        (row.push, row.pushNonce) = (2, account)
        for batch in [nil, 1, 2] as [UInt64?] {
            #expect(
                encounter(place(new), row, batch: batch).state == .mustJoinAnew, "\(batch ?? 0)")
        }
    }
}
