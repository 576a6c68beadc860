internal import DefaultsModel

/// A row of the store, recognized by its form.
///
/// The tables differ in the number and types of their columns. So a row can be recognized even if
/// nothing refers to it. See `Schema.migrations`.
enum SalvagedRow {
    case state(StoreState)
    case domain(SalvagedDomain)
    case droppedDomain(SalvagedDroppedDomain)
    case entry(SalvagedEntry)
    case token(SalvagedToken)
    case host(Host)
    case time(TimeRow)

    /// Nil if no table has such rows, or if the contents are impossible.
    init?(_ record: StoreRecord, id: Int64) {
        if let host = Host(record.columns) {
            self = .host(host)
            return
        }
        // In all other tables the first column is the number of the row, which is outside the
        // record.
        guard record.columns.first == .null else { return nil }
        switch (record.columns.count, record.columns.dropFirst().first) {
        case (4...7, .blob):
            guard let state = StoreState(record.columns) else { return nil }
            self = .state(state)
        case (5...8, .text):
            if case .text(let host) = record.columns[2], DroppedDomains.isMark(host) {
                self = .droppedDomain(SalvagedDroppedDomain(record.columns, id: id, mark: host))
                return
            }
            guard let domain = SalvagedDomain(record.columns, id: id) else { return nil }
            self = .domain(domain)
        case (6, .integer):
            guard let entry = SalvagedEntry(record.columns) else { return nil }
            self = .entry(entry)
        case (4, .integer(let domain)):
            guard case .text(let name) = record.columns[2], let token = try? Token(name),
                let generation = record.columns.generation(at: 3)
            else { return nil }
            self = .token(
                SalvagedToken(id: id, domain: domain, token: token, generation: generation))
        case (2, .integer(let time)):
            guard let generation = Generation(column: id), generation < .largestBelieved,
                let time = UInt64(exactly: time)
            else { return nil }
            self = .time(TimeRow(generation: generation, time: time))
        default:
            return nil
        }
    }
}

/// The row of a domain.
struct SalvagedDomain: Equatable {
    /// The number that entries use for it.
    let id: Int64
    let domain: Domain
    /// How many keys it has.
    let keyCount: Int64
    /// The highest count that is accepted from a damaged row, so that sums do not overflow.
    private static let largestCount: Int64 = 1 << 40
    let lastChange: Generation?
    private(set) var horizon: Generation?

    /// The same with a horizon that is at least this one.
    func raisingHorizon(to other: Generation?) -> SalvagedDomain {
        var row = self
        if let other { row.horizon = max(horizon ?? other, other) }
        return row
    }

    fileprivate init?(_ columns: [StoreRecord.Column], id: Int64) {
        guard case .text(let name) = columns[1], case .text(let host) = columns[2],
            let domain = Domain(name: name, hostColumn: host), case .integer(let count) = columns[3]
        else { return nil }
        self.id = id
        self.domain = domain
        keyCount = min(max(count, 0), SalvagedDomain.largestCount)
        // A database with the first version of the schema has neither.
        lastChange = columns.generation(at: 5)
        horizon = columns.generation(at: 6)
    }
}

/// The row of a domain that was removed with all its entries.
struct SalvagedDroppedDomain {
    /// The number that its entries name it by.
    let id: Int64
    /// Nil if the contents are impossible.
    let domain: Domain?
    /// The last change of an entry that was removed with it.
    let lastChange: Generation?

    fileprivate init(_ columns: [StoreRecord.Column], id: Int64, mark: String) {
        self.id = id
        if case .text(let name) = columns[1] {
            domain = DroppedDomains.domain(name: name, mark: mark)
        } else {
            domain = nil
        }
        lastChange = columns.generation(at: 5)
    }
}

/// The row of an entry, which may be damaged.
struct SalvagedEntry {
    /// The number of its domain.
    let domain: Int64
    let key: Key
    let generation: Generation
    let checksum: UInt64
    /// Nil for a removal.
    let archive: [UInt8]?

    fileprivate init?(_ columns: [StoreRecord.Column]) {
        guard case .integer(let domain) = columns[1], case .text(let name) = columns[2],
            let key = try? Key(stored: name), case .integer(let number) = columns[3],
            // The checksum decides, whatever the generation is.
            let generation = Generation(column: number),
            case .integer(let checksum) = columns[4]
        else { return nil }
        switch columns[5] {
        case .null: archive = nil
        case .blob(let bytes): archive = bytes
        default: return nil
        }
        self.domain = domain
        self.key = key
        self.generation = generation
        self.checksum = UInt64(bitPattern: checksum)
    }

    /// Whether exactly this entry was stored under this domain.
    func isProven(in domain: Domain) -> Bool {
        checksum == RowChecksum.of(domain, key, generation, archive)
    }
}

/// The row of a transaction's token.
struct SalvagedToken {
    /// Later ones have higher numbers.
    let id: Int64
    /// The number of its domain.
    let domain: Int64
    let token: Token
    let generation: Generation
}

extension Generation {
    /// The highest generation that is accepted from a damaged row; see `Generation.now`, which is
    /// never far exceeded.
    fileprivate static let largestBelieved = Generation.first.advanced(by: 1 << 60)
}

extension StoreState {
    fileprivate init?(_ columns: [StoreRecord.Column]) {
        guard case .blob(let bytes) = columns[1], let uuid = UniqueID(bytes),
            let generation = columns.generation(at: 2), let ceiling = columns.generation(at: 3),
            generation <= ceiling
        else { return nil }
        self.init(
            uuid: uuid, generation: generation, ceiling: ceiling,
            record: ChangeRecord(start: columns.generation(at: 4) ?? generation))
    }
}

extension Host {
    fileprivate init?(_ columns: [StoreRecord.Column]) {
        guard columns.count == 2, case .text(let text) = columns[0], let id = HostID(text),
            case .text(let name) = columns[1], name.utf8.count <= Host.longestName
        else { return nil }
        self.init(id: id, name: name)
    }
}

extension [StoreRecord.Column] {
    fileprivate func generation(at index: Int) -> Generation? {
        guard indices.contains(index), case .integer(let number) = self[index],
            let generation = Generation(column: number), generation < .largestBelieved
        else { return nil }
        return generation
    }
}
