package import DefaultsProtocol
internal import DefaultsTerms

/// What a database of dconf has: values by their paths, and the paths that are locked.
///
/// dconf keeps the values of a user in `user` of the directory `dconf` in `$XDG_CONFIG_HOME`, and
/// those of an administrator in `/etc/dconf/db`. Only the latter have locks.
package struct DconfDatabase: Sendable {
    /// A value and its path, such as `/org/gnome/desktop/interface/font-name`.
    package struct Entry: Sendable {
        /// The path.
        package let path: String
        /// The value.
        package let value: ExactValue

        /// Pairs a path with its value.
        package init(_ path: String, _ value: ExactValue) {
            (self.path, self.value) = (path, value)
        }
    }

    /// An item that cannot be read.
    package struct Fault: Sendable {
        /// The path; nil if it cannot be read itself.
        package let path: String?
        /// What is wrong.
        package let error: GVDBError
    }

    /// The values, in the order of the bytes of their paths.
    package private(set) var entries: [Entry] = []
    /// The paths that are locked, in the order of their bytes.
    package private(set) var locks: [String] = []
    /// What cannot be read.
    ///
    /// It is missing in the entries and the locks.
    package private(set) var faults: [Fault] = []

    /// Collects values and locks to be written.
    package init(entries: [Entry], locks: [String] = []) {
        (self.entries, self.locks) = (entries, locks)
    }
}

// MARK: Reading

extension DconfDatabase {
    static let lockTable = ".locks"

    /// Reads a file.
    ///
    /// An item that is wrong becomes a fault, and does not affect the others.
    ///
    /// - Throws: ``GVDBError`` if the file is no GVDB file, or if its items overlap.
    package init(_ bytes: [UInt8]) throws(GVDBError) {
        let table = try GVDBTable(bytes)
        var reader = DatabaseReader(remainingValueBytes: bytes.count)
        try reader.readValues(table)
        if let item = table.item(named: Self.lockTable) { try reader.readLocks(table, item) }
        entries = reader.entries.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
        locks = reader.locks.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        faults = reader.faults
    }
}

/// Collects what the tables of a file have.
///
/// Contents do not overlap in a file that dconf wrote. If they did, a small file could have very many
/// large values, so their sizes are added up.
private struct DatabaseReader {
    var entries: [DconfDatabase.Entry] = []
    var locks: [String] = []
    var faults: [DconfDatabase.Fault] = []
    var remainingValueBytes: Int
    var remainingNameBytes = ContractLimits.maximumNameBytes

    mutating func readValues(_ table: GVDBTable) throws(GVDBError) {
        for item in table.indices {
            // Other kinds are lists, and what GLib writes for an empty list.
            guard [.value, .table].contains(table.kind(of: item)),
                let path = try name(of: item, table), path != DconfDatabase.lockTable,
                path != DconfImage.signature
            else {
                continue
            }
            remainingValueBytes -= table.valueSize(of: item) ?? 0
            guard remainingValueBytes >= 0 else { throw .tooLarge }
            do throws(GVDBError) {
                guard path.utf8.first == UInt8(ascii: "/") else { throw .name(item: item) }
                entries.append(DconfDatabase.Entry(path, try table.value(of: item)))
            } catch {
                faults.append(DconfDatabase.Fault(path: path, error: error))
            }
        }
    }

    mutating func readLocks(_ table: GVDBTable, _ item: Int) throws(GVDBError) {
        let table = try table.table(of: item)
        for item in table.indices where table.kind(of: item) == .value {
            if let path = try name(of: item, table) { locks.append(path) }
        }
    }

    /// The name of an item; nil if it is a fault.
    private mutating func name(
        of item: Int, _ table: GVDBTable
    ) throws(GVDBError) -> String? {
        guard remainingNameBytes >= 0 else { throw .tooLarge }
        do throws(GVDBError) {
            let name = try table.name(of: item)
            remainingNameBytes -= name.utf8.count
            return name
        } catch {
            remainingNameBytes -= GVDBTable.maximumNameLength
            faults.append(DconfDatabase.Fault(path: nil, error: error))
            return nil
        }
    }
}

// MARK: Writing

extension DconfDatabase {
    /// The bytes of a file that dconf reads.
    ///
    /// Each directory of a path is an item with a list of what is in it: dconf lists a directory by
    /// that.
    ///
    /// - Throws: ``GVDBError`` if a path is given twice or is no path, or if something is too large.
    package func bytes() throws(GVDBError) -> [UInt8] {
        var builder = DatabaseBuilder()
        for entry in entries { try builder.add(entry) }
        if !locks.isEmpty { try builder.add(locks: locks) }
        return try GVDBWriter.file(of: builder.contents)
    }
}

/// Makes the items of paths and of the directories above them.
struct DatabaseBuilder {
    private(set) var contents = GVDBContents()
    /// The items of names.
    ///
    /// Bytes are the keys: different names can be the same text to Unicode.
    private var items: [[UInt8]: Int] = [:]

    mutating func add(_ entry: DconfDatabase.Entry) throws(GVDBError) {
        let path = Array(entry.path.utf8)
        guard SettingsPath.isPathOfKey(path), path.count <= GVDBTable.maximumNameLength else {
            throw .name(item: contents.items.count)
        }
        guard items[path] == nil else { throw .repeatedName(entry.path) }
        do throws(GVariantError) {
            _ = add(path, .value(try ExactValue(.variant, .variant(entry.value)).gvariant()))
        } catch {
            throw .value(error)
        }
    }

    /// Adds an item with a value in the form of a variant.
    ///
    /// - Parameter name: A new one: a path, or a name without a directory.
    mutating func add(_ name: [UInt8], value: [UInt8]) {
        _ = add(name, .value(value))
    }

    mutating func add(locks paths: [String]) throws(GVDBError) {
        var table = GVDBContents()
        var known: Set<[UInt8]> = []
        let empty = ExactValue(.variant, .variant(ExactValue(.string, .string(""))))
        for path in paths {
            let name = Array(path.utf8)
            guard known.insert(name).inserted else { throw .repeatedName(path) }
            guard name.first == UInt8(ascii: "/") else { throw .name(item: table.items.count) }
            do throws(GVariantError) {
                _ = table.add(name, .value(try empty.gvariant()))
            } catch {
                throw .value(error)
            }
        }
        _ = contents.add(Array(DconfDatabase.lockTable.utf8), .table(table))
    }

    /// Adds an item for a name below its directory.
    private mutating func add(_ name: [UInt8], _ content: GVDBContents.Content) -> Int {
        let slash = name.dropLast().lastIndex(of: UInt8(ascii: "/"))
        let parent = slash.map { directory(Array(name[...$0])) }
        let own = Array(name[(slash.map { $0 + 1 } ?? 0)...])
        let item = contents.add(own, below: parent, content)
        items[name] = item
        if let parent { contents.list(item, in: parent) }
        return item
    }

    /// The item of a directory, whose name ends with a slash.
    private mutating func directory(_ name: [UInt8]) -> Int {
        items[name] ?? add(name, .list([]))
    }
}
