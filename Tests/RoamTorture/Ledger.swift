import DefaultsRoaming

/// What was written, by whom, and what its writer saw: the truth that the machines are compared with.
struct Ledger {
    struct Write {
        let number: Int
        let machine: Int
        let key: RoamingKey
        /// The text that was written, which is written only once; nil for a removal.
        let text: String?
        /// The write whose value its writer saw; nil if there was none.
        let seen: Int?
        /// The true time, in microseconds.
        let time: Int64
        /// Whether a power cut took it before it was on disk, or its writer took it back.
        var isCut = false
        /// Whether its machine was put back before it had left it for sure.
        var isUncertain = false
        /// Whether a machine had it when it joined again.
        ///
        /// So it may lose to what it has replaced, and come back if nobody remembers its removal any more.
        var isOld = false
    }

    private(set) var writes: [Write] = []
    private var byText: [String: Int] = [:]

    func nextText() -> String { "value \(writes.count)" }

    mutating func note(
        _ text: String?, of key: RoamingKey, on machine: Int, seeing seen: String?, at time: Int64,
        isOld: Bool
    ) {
        let write = Write(
            number: writes.count, machine: machine, key: key, text: text,
            seen: seen.flatMap { byText[$0] }, time: time, isOld: isOld)
        if let text { byText[text] = write.number }
        writes.append(write)
    }

    /// Notes what a power cut took: the last writes of a machine whose value is not there.
    ///
    /// - Returns: These writes.
    mutating func noteCut(
        of machine: Int, from first: Int, values: [RoamingKey: String]
    ) -> [Write] {
        var cut: [Write] = []
        var later: [RoamingKey: [Int]] = [:]
        for write in writes[first...] where write.machine == machine && !write.isCut {
            later[write.key, default: []].append(write.number)
        }
        for (key, numbers) in later {
            // The last one that is still visible; those after it are gone.
            let standing = numbers.lastIndex { writes[$0].text == values[key] }
            for number in numbers.suffix(from: standing.map { $0 + 1 } ?? 0) {
                writes[number].isCut = true
                cut.append(writes[number])
            }
        }
        return cut
    }

    /// Notes that the last write of a key was taken back before anybody saw it.
    mutating func noteChangeBack(of key: RoamingKey) {
        guard let last = writes.lastIndex(where: { $0.key == key }) else { return }
        writes[last].isCut = true
    }

    /// Notes that the disk of a machine was replaced by an older one.
    ///
    /// - Parameters:
    ///   - first: The first write that may not have left the machine.
    ///   - values: What it has now.
    ///   - lost: The losers that only this machine had kept.
    mutating func notePutBack(
        of machine: Int, from first: Int, values: [RoamingKey: String],
        keptOnlyThere lost: Set<String>
    ) {
        for number in lost.compactMap({ byText[$0] }) { writes[number].isUncertain = true }
        for number in first..<writes.count where writes[number].machine == machine {
            writes[number].isUncertain = true
        }
        noteOld(values)
    }

    /// Notes that values of a machine count as values from before it joined.
    mutating func noteOld(_ values: [RoamingKey: String]) {
        for number in values.values.compactMap({ byText[$0] }) { writes[number].isOld = true }
    }

    /// What is wrong at the end.
    struct Verdict {
        var gone: [String] = []
        var cameBack: [String] = []
        var ghosts: [String] = []
        var knewWinner: [String] = []
        var conflicts = 0
        var wrongWinners = 0
    }

    /// Compares the end with what was written.
    ///
    /// - Parameters:
    ///   - values: What all machines have.
    ///   - kept: The texts that are kept as losers.
    func verdict(values: [RoamingKey: String], kept: Set<String>) -> Verdict {
        var verdict = Verdict()
        var replaced: [Int: [Write]] = [:]
        for write in writes where !write.isCut {
            if let seen = write.seen { replaced[seen, default: []].append(write) }
        }
        let keptByKey = Dictionary(grouping: kept.compactMap { byText[$0] }) { writes[$0].key }
        for write in writes where !write.isUncertain {
            guard let text = write.text else { continue }
            let stands = values[write.key] == text
            if write.isCut {
                if stands || kept.contains(text) { verdict.ghosts.append(text) }
                continue
            }
            let successors = replaced[write.number] ?? []
            if !stands, successors.isEmpty, !kept.contains(text) { verdict.gone.append(text) }
            // A successor that did not lose has replaced it for good.
            if stands, !write.isOld,
                successors.contains(where: {
                    !$0.isUncertain && !$0.isOld && isCertain($0, kept, keptByKey[$0.key] ?? [])
                })
            {
                verdict.cameBack.append(text)
            }
        }
        for (key, losers) in keptByKey {
            verdict.conflicts += losers.count
            guard let winner = values[key].flatMap({ byText[$0] }) else { continue }
            for loser in losers where loser != winner {
                if !writes[loser].isOld, !writes[winner].isOld, descends(loser, from: winner) {
                    verdict.knewWinner.append(writes[loser].text ?? "")
                }
                if writes[loser].time > writes[winner].time { verdict.wrongWinners += 1 }
            }
        }
        return verdict
    }

    /// Whether a write cannot have lost: it is no loser, and there was no conflict of its key that a
    /// removal could have lost.
    private func isCertain(_ write: Write, _ kept: Set<String>, _ losers: [Int]) -> Bool {
        if let text = write.text { return !kept.contains(text) }
        return losers.isEmpty
            && !writes.contains {
                $0.key == write.key && $0.number != write.number && $0.seen == write.seen
            }
    }

    private func descends(_ write: Int, from ancestor: Int) -> Bool {
        var next = writes[write].seen
        while let number = next {
            if number == ancestor { return true }
            next = writes[number].seen
        }
        return false
    }
}
