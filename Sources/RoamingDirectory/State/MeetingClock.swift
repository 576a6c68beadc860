import DefaultsRoaming
import SQLite

// Invariants
//
// 1. A version never gets a new time: the same files must show the same values on every machine, whatever
//    its clock says (4 in `DirectoryState.swift`). So a clock matters only when an edit gets its time.
// 2. The clock never shows less than the wall clock, than it has shown, or than any time in a file that was
//    read. Each file has the clock of its writer at the time of writing.
// 3. While the machine runs, the clock goes on with the time since its start. If somebody sets the wall
//    clock back, the clock does not notice it.

/// The clock that all replicas of a directory share, as far as this one knows.
///
/// No server says what time it is, and clocks of machines may be wrong by years. So the one that is the
/// furthest ahead counts: each machine that reads its files sets its own clock to it. The clock of a
/// reader is then behind by at most the time that this file took, and so is the time of an edit.
///
/// There is one limit. A clock may jump ahead, and another machine may push an edit before it has read
/// any file that was written since. Nobody can then compare these two times, and the machine with the
/// jump wins. The value that lost is kept. An edit whose writer knew the other version replaces it in any
/// case.
struct MeetingClock: Equatable {
    /// The latest time that it shows, so that numbers in files stay in bounds.
    static let latest = Dot.largestCounter

    /// When it was set, by the clocks of this machine.
    private(set) var moment: Moment
    /// What it showed then.
    private(set) var time: Int64

    /// How far it is ahead of the wall clock.
    var lead: Int64 { time.subtractingSaturated(moment.wall) }

    /// Lets it go on up to a moment.
    mutating func goOn(to moment: Moment) {
        let isSameStart = !moment.boot.isEmpty && moment.boot == self.moment.boot
        // After a start, the wall clock is believed to be as wrong as before.
        let elapsed =
            isSameStart
            ? moment.sinceBoot.subtractingSaturated(self.moment.sinceBoot)
            : moment.wall.subtractingSaturated(self.moment.wall)
        time = min(max(time.addingSaturated(max(elapsed, 0)), moment.wall), Self.latest)
        self.moment = moment
    }

    /// Sets it to a time that a file has, if that is later.
    mutating func set(to time: Int64) {
        self.time = min(max(self.time, time), Self.latest)
    }
}

extension ReplicaFile {
    /// The latest time that it has.
    var latestTime: Int64 {
        entries.lazy.flatMap(\.heads).reduce(written) { latest, head in
            if case .known(let time) = head.time { max(latest, time) } else { latest }
        }
    }
}

extension DirectoryState {
    /// How far the clock on the disk may be wrong, so that it is not written each time.
    private static let tolerance: Int64 = 1_000_000

    /// What the clock shows.
    ///
    /// - Parameter seen: A time that a file has.
    @discardableResult
    func time(at moment: Moment, seen: Int64 = .min) throws(SQLiteError) -> Int64 {
        if clock == nil { clock = try readClock() }
        var clock = clock ?? MeetingClock(moment: moment, time: moment.wall)
        clock.goOn(to: moment)
        clock.set(to: seen)
        self.clock = clock
        let isOnDisk = savedClock.map {
            $0.moment.boot == moment.boot
                && $0.lead.subtractingSaturated(clock.lead).magnitude <= Self.tolerance
        }
        if isOnDisk != true {
            try connection.run(
                "INSERT OR REPLACE INTO directory_clock VALUES (1, ?, ?, ?, ?)",
                [
                    .text(FileText.hexadecimal(moment.boot)), .integer(moment.sinceBoot),
                    .integer(moment.wall), .integer(clock.time),
                ])
            savedClock = clock
        }
        return clock.time
    }

    /// The clock on the disk, which never shows less than the versions have.
    private func readClock() throws(SQLiteError) -> MeetingClock? {
        savedClock = try connection.rows(
            "SELECT boot, since_boot, wall, time FROM directory_clock"
        ) { row in
            let boot = row.text(at: 0) ?? ""
            return MeetingClock(
                moment: Moment(
                    boot: FileText.bytes(Substring(boot), count: boot.utf8.count / 2) ?? [],
                    sinceBoot: row.integer(at: 1), wall: row.integer(at: 2)),
                time: row.integer(at: 3))
        }.first
        var clock = savedClock
        let times = try connection.rows("SELECT max(time) FROM directory_head") { row in
            row.isNull(at: 0) ? Int64.min : row.integer(at: 0)
        }
        for time in times { clock?.set(to: time) }
        return clock
    }
}
