internal import DefaultsModel
internal import SystemCalls

/// The rows of a store that SQLite cannot be trusted to read, found page by page.
///
/// Nothing leads to a row here but the page that it stands on: neither the header of the file nor
/// the tree nor an index is needed.
///
/// Invariants:
/// 1. An entry that is given is proven by its checksum to be what was stored under that domain and
///    that key. Nothing else of a store is proven; what makes no sense is left out.
/// 2. Of each page the newest version counts. If that is damaged, places are looked at that it
///    does not name as the beginning of a row; older versions are given apart.
/// 3. Memory does not grow with the number of entries, but for a byte a page.
struct Salvage {
    private let pages: StorePages
    /// The domains by the numbers that entries name them by; several if pages differ.
    private(set) var names: [Int64: [Domain]] = [:]
    /// The numbers of the domains that were removed with all their entries.
    private var dropped: Set<Int64> = []
    /// The last changes of the entries that were removed so.
    private var droppedUpTo: [Domain: Generation] = [:]
    /// What the rows of domains tell, of each the one with the last change.
    private(set) var domains: [Domain: SalvagedDomain] = [:]
    /// The state with the highest generation.
    private(set) var state: StoreState?
    /// The machines that have told their names, the newest page first.
    private(set) var hosts: [Host] = []
    /// The pages that hold the rest of an entry.
    private var isOverflow: [Bool]

    /// The pages of which something cannot be read.
    private var damagedPages: [Int] = []

    /// The most domains that are believed to have had one number.
    private static let mostNames = 8
    /// The most names that an entry without a domain is tried with.
    private static let mostGuesses = 256

    /// What is found of a row that belongs to a domain.
    enum Finding {
        /// What is proven to be stored.
        case entry(Domain, SalvagedEntry)
        /// The same of a page before one that may never have been of the database.
        case earlier(Domain, SalvagedEntry)
        case token(Domain, SalvagedToken)
        /// What is there and damaged, by its name as far as that can be told.
        case damaged(Domain?, Key)
    }

    /// Looks for the state and for the domains.
    init(of pages: StorePages) throws(SystemError) {
        isOverflow = Array(repeating: false, count: pages.count + 1)
        self.pages = pages
        for number in 1...max(1, pages.count) {
            for age in 0..<pages.versions(of: number) {
                guard let page = try pages.read(number, age: age) else { continue }
                if try noteRows(of: page.bytes, number) && page.isWhole { break }
            }
        }
    }

    /// Finds every entry and every token, in no order; of a key there may be several.
    mutating func forEachFinding(_ body: (Finding) throws -> Void) throws {
        var unknown: [Int] = []
        for number in 1...max(1, pages.count) {
            guard let read = try pages.read(number),
                !PointerMap.isPage(read.bytes, number: number, size: pages.pageSize)
            else { continue }
            guard let page = TreePage(read.bytes, number: number, size: pages.pageSize) else {
                // A page that was erased has nothing, and there may be very many.
                if read.bytes.contains(where: { $0 != 0 }) { unknown.append(number) }
                continue
            }
            let isSound = try forEachFinding(on: page, body)
            if !read.isCertain { try forEachFinding(before: number, body) }
            if isSound && read.isWhole { continue }
            damagedPages.append(number)
            try forEachHiddenEntry(of: page, body)
        }
        // An overflow page looks like none of a tree, and holds what a program has stored.
        for number in unknown where !isOverflow[number] {
            guard let read = try pages.read(number) else { continue }
            damagedPages.append(number)
            try forEachHiddenEntry(
                of: TreePage(leaf: read.bytes, number: number, size: pages.pageSize), body)
        }
    }

    /// What the versions of a page name that came before an uncertain one, back to a certain one.
    ///
    /// Of rows that are there twice the later counts; one that was removed for good is below the
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

    /// Finds the entries that stood on damaged pages earlier, the newest last.
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
    /// - Returns: Whether the page is what it says.
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
            // What has overflow pages is an entry.
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
        case .entry, .token:
            break
        }
    }

    /// Notes the name of a domain that stands in the index of names.
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
    /// What a page names.
    ///
    /// - Returns: Whether the page is what it says, and everything that it names is undamaged.
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
                    // A removal that is lost is not missed.
                    if entry.archive != nil {
                        try body(.damaged(names[entry.domain]?.first, entry.key))
                    }
                    isSound = false
                }
            case .token(let token):
                if let domain = names[token.domain]?.first { try body(.token(domain, token)) }
            case .state, .domain, .droppedDomain, .host, nil:
                break
            }
        }
        return isSound
    }

    /// The entries at places that a page does not name, which a damaged one may have lost.
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

    /// Whether an entry was removed with its whole domain, which a row tells that has a mark.
    ///
    /// A mark that is damaged takes no entry that came after the removal: these are above the horizon.
    private func isDropped(_ entry: SalvagedEntry, of domain: Domain) -> Bool {
        let horizon = domains[domain]?.horizon
        let isBeforeHorizon = horizon.map { entry.generation <= $0 } ?? true
        guard isBeforeHorizon else { return false }
        if let last = droppedUpTo[domain], entry.generation <= last { return true }
        return dropped.contains(entry.domain)
    }

    /// The domain under which an entry was stored; nil if its checksum speaks for none.
    private func domain(of entry: SalvagedEntry) -> Domain? {
        if let named = names[entry.domain] { return named.first { entry.isProven(in: $0) } }
        return domains.keys.prefix(Salvage.mostGuesses).first { entry.isProven(in: $0) }
    }

    private mutating func note(_ overflow: [Int]) {
        for page in overflow where isOverflow.indices.contains(page) { isOverflow[page] = true }
    }

    /// Whether a page that is no leaf of a table is what it says.
    private func isSound(_ page: TreePage) -> Bool {
        page.kind.isIndex
            ? page.pointers.allSatisfy { page.cell(at: $0)?.hasHeader ?? false }
            : page.children.allSatisfy { (1...max(1, pages.count)).contains($0) }
    }
}

// MARK: Names in the index

extension Salvage {
    /// Finds the names of entries in the index of keys, whether there are rows for them or not.
    ///
    /// - Parameter root: The page that the index begins at in a store with a pointer map. In one
    ///   without it that is the page before; what is there in the other kind is no index.
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
