internal import DefaultsModel
internal import SystemCalls

/// The rows of a store that SQLite cannot be trusted to read, found page by page.
///
/// A row is found by its page alone. The header of the file, the tree and the indexes are not
/// needed.
///
/// Invariants:
/// 1. Each reported entry is what was stored under that domain and that key, as proven by its
///    checksum. Nothing else of a store is proven; rows with impossible contents are ignored.
/// 2. The newest version of each page counts. If it is damaged, rows are also searched at positions
///    to which the page does not refer. Older versions are reported separately.
/// 3. Memory does not grow with the number of entries, except for one byte for each page.
struct Salvage {
    private let pages: StorePages
    /// The domains by the number that entries use for them; several if pages disagree.
    private(set) var names: [Int64: [Domain]] = [:]
    /// The numbers of the domains that were removed with all their entries.
    private var dropped: Set<Int64> = []
    /// The last changes of the entries that were removed with such a domain.
    private var droppedUpTo: [Domain: Generation] = [:]
    /// The rows of the domains.
    ///
    /// Of several rows of one domain, the one with the last change.
    private(set) var domains: [Domain: SalvagedDomain] = [:]
    /// The highest horizon in the rows of each number, whatever name these have.
    private var horizons: [Int64: Generation] = [:]
    /// The state with the highest generation.
    private(set) var state: StoreState?
    /// The machines whose names were found, the newest page first.
    private(set) var hosts: [Host] = []
    /// The times that were found, in no order.
    private(set) var times: [TimeRow] = []
    /// The pages with the rest of an entry.
    private var isOverflow: [Bool]

    /// The pages that cannot be read completely.
    private var damagedPages: [Int] = []

    /// The most domains that are accepted for one number.
    private static let mostNames = 8
    /// The most domains that are tried for an entry with an unknown domain.
    private static let mostGuesses = 256

    /// A row that belongs to a domain.
    enum Finding {
        /// An entry whose checksum was verified.
        case entry(Domain, SalvagedEntry)
        /// A verified entry from an earlier version of a page whose newest version may never have
        /// been committed.
        case earlier(Domain, SalvagedEntry)
        case token(Domain, SalvagedToken)
        /// A damaged entry, with its name as far as it is known.
        case damaged(Domain?, Key)
    }

    /// Finds the state and the domains.
    init(of pages: StorePages) throws(SystemError) {
        isOverflow = Array(repeating: false, count: pages.count + 1)
        self.pages = pages
        for number in pages.numbers {
            for age in 0..<pages.versions(of: number) {
                guard let page = try pages.read(number, age: age) else { continue }
                if try noteRows(of: page.bytes, number) && page.isWhole { break }
            }
        }
        // If the name in the last row of a domain is damaged, its row here is an earlier one, which does
        // not know of later removals. The number is the same.
        domains = domains.mapValues { $0.raisingHorizon(to: horizons[$0.id]) }
    }

    /// The horizon of each domain that has an entry in an index and no row.
    var horizonsWithoutRow: [Domain: Generation] {
        var found: [Domain: Generation] = [:]
        for (id, horizon) in horizons {
            for domain in names[id] ?? [] where domains[domain] == nil {
                found[domain] = max(found[domain] ?? horizon, horizon)
            }
        }
        return found
    }

    /// Finds every entry and every token, in no order.
    ///
    /// A key may have several entries.
    mutating func forEachFinding(_ body: (Finding) throws -> Void) throws {
        var unknown: [Int] = []
        for number in pages.numbers {
            guard let read = try pages.read(number),
                !PointerMap.isPage(read.bytes, number: number, size: pages.pageSize)
            else { continue }
            guard let page = TreePage(read.bytes, number: number, size: pages.pageSize) else {
                // A page that was erased is empty, and there may be very many of them.
                if read.bytes.contains(where: { $0 != 0 }) { unknown.append(number) }
                continue
            }
            let isSound = try forEachFinding(on: page, body)
            if !read.isCertain { try forEachFinding(before: number, body) }
            if isSound && read.isWhole { continue }
            damagedPages.append(number)
            try forEachHiddenEntry(of: page, body)
        }
        // An overflow page does not look like a tree page, and contains bytes chosen by a program.
        for number in unknown where !isOverflow[number] {
            guard let read = try pages.read(number) else { continue }
            damagedPages.append(number)
            try forEachHiddenEntry(
                of: TreePage(leaf: read.bytes, number: number, size: pages.pageSize), body)
        }
    }

    /// Finds the entries in the versions of a page before an uncertain one, back to a certain one.
    ///
    /// If a row is there twice, the later one counts. A row that was removed for good is below the
    /// horizon of its domain.
    private mutating func forEachFinding(
        before number: Int, _ body: (Finding) throws -> Void
    ) throws {
        for age in 1..<pages.versions(of: number) {
            guard let read = try pages.read(number, age: age),
                let page = TreePage(read.bytes, number: number, size: pages.pageSize)
            else { continue }
            let domains = domains
            _ = try forEachFinding(on: page) { finding in
                guard case .entry(let domain, let entry) = finding else { return }
                if let horizon = domains[domain]?.horizon, entry.generation <= horizon { return }
                try body(.earlier(domain, entry))
            }
            if read.isCertain { return }
        }
    }

    /// Finds the entries in earlier versions of damaged pages, the newest last.
    ///
    /// They may have been changed or removed since.
    mutating func forEachEarlierEntry(_ body: (Finding) throws -> Void) throws {
        for number in damagedPages {
            for age in (1..<pages.versions(of: number)).reversed() {
                guard let read = try pages.read(number, age: age),
                    let page = TreePage(read.bytes, number: number, size: pages.pageSize)
                else { continue }
                _ = try forEachFinding(on: page, body)
            }
        }
    }

    /// Notes the small rows of a page.
    ///
    /// - Returns: Whether the page is consistent.
    private mutating func noteRows(of bytes: [UInt8], _ number: Int) throws(SystemError) -> Bool {
        guard !PointerMap.isPage(bytes, number: number, size: pages.pageSize),
            let page = TreePage(bytes, number: number, size: pages.pageSize)
        else { return true }
        guard page.kind != .tableInterior else { return true }
        var isSound = true
        for place in page.pointers {
            guard let cell = page.cell(at: place) else {
                isSound = false
                continue
            }
            // Only entries have overflow pages.
            guard cell.overflow == 0, let record = try pages.record(of: cell)?.record else {
                continue
            }
            if page.kind.isIndex {
                noteIndexed(record)
            } else if let row = SalvagedRow(record, id: cell.row) {
                note(row)
            }
        }
        return isSound
    }

    private mutating func note(_ row: SalvagedRow) {
        switch row {
        case .state(let state):
            if self.state.map({ $0.generation < state.generation }) ?? true { self.state = state }
        case .domain(let row):
            note(row.domain, id: row.id)
            if let horizon = row.horizon {
                horizons[row.id] = max(horizons[row.id] ?? horizon, horizon)
            }
            let known = domains[row.domain]?.lastChange
            if known.map({ $0 < row.lastChange ?? .first }) ?? true { domains[row.domain] = row }
        case .droppedDomain(let row):
            dropped.insert(row.id)
            guard let domain = row.domain else { return }
            note(domain, id: row.id)
            if let last = row.lastChange {
                droppedUpTo[domain] = max(droppedUpTo[domain] ?? last, last)
            }
        case .host(let host):
            if hosts.count < HostTable.mostNames { hosts.append(host) }
        case .time(let time):
            if times.count < TimeTable.mostRows { times.append(time) }
        case .entry, .token:
            break
        }
    }

    /// Notes the name of a domain in the index of names.
    private mutating func noteIndexed(_ record: StoreRecord) {
        guard record.columns.count == 3, case .text(let name) = record.columns[0],
            case .text(let host) = record.columns[1], case .integer(let id) = record.columns[2]
        else { return }
        if DroppedDomains.isMark(host) {
            dropped.insert(id)
            if let domain = DroppedDomains.domain(name: name, mark: host) { note(domain, id: id) }
        } else if let domain = Domain(name: name, hostColumn: host) {
            note(domain, id: id)
        }
    }

    private mutating func note(_ domain: Domain, id: Int64) {
        let known = names[id] ?? []
        guard known.count < Salvage.mostNames, !known.contains(domain) else { return }
        names[id] = known + [domain]
    }
}

// MARK: Entries of a page

extension Salvage {
    /// Finds the rows that a page refers to.
    ///
    /// - Returns: Whether the page is consistent, and all its rows are undamaged.
    private mutating func forEachFinding(
        on page: TreePage, _ body: (Finding) throws -> Void
    ) throws -> Bool {
        guard page.kind == .tableLeaf else { return isSound(page) }
        var isSound = true
        for place in page.pointers {
            guard let cell = page.cell(at: place),
                let (record, overflow) = try pages.record(of: cell)
            else {
                isSound = false
                continue
            }
            switch SalvagedRow(record, id: cell.row) {
            case .entry(let entry):
                if let domain = domain(of: entry) {
                    note(overflow)
                    if !isDropped(entry, of: domain) { try body(.entry(domain, entry)) }
                } else if dropped.contains(entry.domain) {
                    note(overflow)
                } else {
                    // If a removal is lost, nothing is missing.
                    if entry.archive != nil {
                        try body(.damaged(names[entry.domain]?.first, entry.key))
                    }
                    isSound = false
                }
            case .token(let token):
                if let domain = names[token.domain]?.first { try body(.token(domain, token)) }
            case .state, .domain, .droppedDomain, .host, .time, nil:
                break
            }
        }
        return isSound
    }

    /// Finds entries at places to which the page does not refer, for a page that may have lost
    /// references.
    private mutating func forEachHiddenEntry(
        of page: TreePage, _ body: (Finding) throws -> Void
    ) throws {
        for place in page.places {
            guard let cell = page.cell(at: place),
                let (record, overflow) = try pages.record(of: cell),
                case .entry(let entry) = SalvagedRow(record, id: cell.row),
                let domain = domain(of: entry), !isDropped(entry, of: domain)
            else { continue }
            note(overflow)
            try body(.entry(domain, entry))
        }
    }

    /// Whether an entry was removed with its whole domain, according to a row with a mark.
    ///
    /// A damaged mark cannot remove entries that were written after the removal, because they are
    /// above the horizon.
    private func isDropped(_ entry: SalvagedEntry, of domain: Domain) -> Bool {
        let horizon = domains[domain]?.horizon
        let isBeforeHorizon = horizon.map { entry.generation <= $0 } ?? true
        guard isBeforeHorizon else { return false }
        if let last = droppedUpTo[domain], entry.generation <= last { return true }
        return dropped.contains(entry.domain)
    }

    /// The domain under which an entry was stored; nil if its checksum fits none.
    private func domain(of entry: SalvagedEntry) -> Domain? {
        if let named = names[entry.domain] { return named.first { entry.isProven(in: $0) } }
        return domains.keys.prefix(Salvage.mostGuesses).first { entry.isProven(in: $0) }
    }

    private mutating func note(_ overflow: [Int]) {
        for page in overflow where isOverflow.indices.contains(page) { isOverflow[page] = true }
    }

    /// Whether a page that is not a leaf of a table is consistent.
    private func isSound(_ page: TreePage) -> Bool {
        page.kind.isIndex
            ? page.pointers.allSatisfy { page.cell(at: $0)?.hasHeader ?? false }
            : page.children.allSatisfy { (1...max(1, pages.count)).contains($0) }
    }
}

// MARK: Names in the index

extension Salvage {
    /// Finds the names of entries in the index of keys, even if there are no rows for them.
    ///
    /// - Parameter root: The first page of the index in a store with a pointer map. In a store
    ///   without one, it is the page before. Only one of the two is a page of an index.
    func forEachIndexedName(
        from root: Int, _ body: (Domain, Key) throws -> Void
    ) throws {
        var next = [root - 1, root]
        var isSeen = Array(repeating: false, count: pages.count + 1)
        while let number = next.popLast() {
            guard isSeen.indices.contains(number), !isSeen[number] else { continue }
            isSeen[number] = true
            guard let read = try pages.read(number),
                let page = TreePage(read.bytes, number: number, size: pages.pageSize),
                page.kind.isIndex
            else { continue }
            next += page.children
            for place in page.pointers {
                guard let cell = page.cell(at: place),
                    let columns = try pages.record(of: cell)?.record.columns, columns.count == 3,
                    case .integer(let id) = columns[0], case .text(let name) = columns[1],
                    !dropped.contains(id), let domain = names[id]?.first,
                    let key = try? Key(stored: name)
                else { continue }
                try body(domain, key)
            }
        }
    }
}
