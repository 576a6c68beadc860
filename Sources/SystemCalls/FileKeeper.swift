internal import Glibc

// Invariants
//
// 1. The places are given once, by a process that is not confined yet. Nothing adds to them.
// 2. A file that is changed is below one of the first places, by its name, and no symbolic link leads
//    from there to elsewhere. The place itself may be a link, as the user has made it; then the file
//    may also be named by the path that the link leads to. The process that asks cannot make links.
// 3. Of a directory above a place, no more can be done than to make what is missing on the way there, to
//    list it and to wait until it is on the disk.
// 4. Below a place that is only read, links are followed: those who may make files there may choose
//    what is read.
// 5. Where a link leads that has the name of a file which may be one, that file may be changed, and so may
//    those beside it whose names begin as its name does: if it was a database of this program when the link
//    was first seen. The process that asks cannot make such a link, and neither can it make that database.
// 6. A file elsewhere is only read, and only if it is a database of this program: a backup that the
//    user has named.

/// Opens, makes, renames and removes files for a confined process, in the places that were given.
///
/// It is the side of the helper; ``FileCalls`` asks.
package struct FileKeeper {
    /// Where files may be changed or read.
    package struct Places: Sendable {
        /// Directories whose files may be changed.
        package let own: [String]
        /// Directories whose files may be read.
        package let read: [String]
        /// Files that the user may have replaced by links.
        package let links: [String]
        /// Which databases may be read wherever they are: those of SQLite with this application ID.
        package let databases: UInt32

        /// Names places, by absolute paths.
        package init(
            own: [String], read: [String], links: [String] = [], databases: UInt32
        ) {
            (self.own, self.read, self.links) = (own, read, links)
            self.databases = databases
        }
    }

    private var places: Places?
    /// The files, by the words of links and without any link, that were databases of this program; by the
    /// words of the link that has led there (5).
    private var proven: [String: [String]] = [:]

    /// Knows no place yet.
    package init() {}

    /// Answers a request; nil if it is not one about files.
    package mutating func answer(_ letter: RequestSocket.Letter) -> RequestSocket.Letter? {
        var parcel = letter.parcel
        guard let request = FileRequest(takenFrom: &parcel, with: letter.descriptor) else {
            return nil
        }
        do throws(SystemError) {
            return FileRequest.success(try perform(request))
        } catch {
            return FileRequest.failure(error.number)
        }
    }

    private mutating func perform(_ request: FileRequest) throws(SystemError) -> FileDescriptor? {
        proveLinks()
        switch request {
        case .begin(let places):
            guard self.places == nil else { throw refusal(of: "places") }
            self.places = places
        case .open(let path, let flags): return try open(path, flags)
        case .makeDirectory(let path): try makeDirectory(path)
        case .rename(let path, let other): try rename(path, to: other)
        case .reopen(let descriptor): return try reopen(descriptor)
        case .unlink(let path):
            let (directory, name) = try parent(of: path)
            guard unlinkat(directory.number, name, 0) == 0 else { throw .last("unlink", path) }
        }
        return nil
    }

    private func refusal(of path: String) -> SystemError {
        SystemError(call: "open", path: path, number: EACCES)
    }
}

// MARK: What is allowed

extension FileKeeper {
    private func open(_ path: String, _ flags: Int32) throws(SystemError) -> FileDescriptor {
        let number: Int32
        let isReading = flags & (O_ACCMODE | O_CREAT | O_TRUNC) == O_RDONLY
        if let (directory, name) = try parentIfAny(of: path) {
            number = openat(directory.number, name, flags | O_NOFOLLOW | O_CLOEXEC, 0o600)
        } else if isReading, isOnTheWay(path) || isTarget(path) {
            number = Glibc.open(path, flags | O_DIRECTORY | O_CLOEXEC)
        } else if isReading, placed(path, in: places?.read) != nil {
            number = Glibc.open(path, flags | O_CLOEXEC)
        } else if isReading, let places {
            return try Self.openDatabase(path, of: places.databases)
        } else {
            throw refusal(of: path)
        }
        guard number >= 0 else { throw .last("open", path) }
        return FileDescriptor(owning: number)
    }

    /// Opens a database of SQLite, whose header begins with its name and has the ID of an application.
    ///
    /// See [the file format](https://www.sqlite.org/fileformat.html#the_database_header).
    private static func openDatabase(
        _ path: String, of application: UInt32
    ) throws(SystemError) -> FileDescriptor {
        let refusal = SystemError(call: "open", path: path, number: FileCalls.noDatabase)
        // Opening a device can have an effect, so the file is only named at first.
        let named = try File(path, File.pathOnly)
        guard try named.status().kind == .regular else { throw refusal }
        let file = try File("/proc/self/fd/\(named.descriptor)", O_RDONLY | O_NONBLOCK)
        let header = (try? file.read(72, at: 0)) ?? []
        let found = header.dropFirst(68).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        guard header.starts(with: "SQLite format 3\0".utf8), found == application else {
            throw refusal
        }
        let number = fcntl(file.descriptor, F_DUPFD_CLOEXEC, 0)
        guard number >= 0 else { throw .last("fcntl", path) }
        return FileDescriptor(owning: number)
    }

    /// Opens a file once more for reading that is open for reading already.
    ///
    /// A descriptor that only names a file gives no right to it.
    private func reopen(_ descriptor: FileDescriptor) throws(SystemError) -> FileDescriptor {
        let link = "/proc/self/fd/\(descriptor.number)"
        let flags = fcntl(descriptor.number, F_GETFL)
        guard flags >= 0, flags & File.pathOnly == 0, flags & O_ACCMODE != O_WRONLY else {
            throw refusal(of: link)
        }
        let number = Glibc.open(link, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { throw .last("open", link) }
        return FileDescriptor(owning: number)
    }

    private func makeDirectory(_ path: String) throws(SystemError) {
        if isOnTheWay(path) {
            guard mkdir(path, 0o700) == 0 else { throw .last("mkdir", path) }
        } else {
            let (directory, name) = try parent(of: path)
            guard mkdirat(directory.number, name, 0o700) == 0 else { throw .last("mkdir", path) }
        }
    }

    /// Renames a file in its directory.
    private func rename(_ path: String, to other: String) throws(SystemError) {
        guard Path.parent(of: path) == Path.parent(of: other) else { throw refusal(of: other) }
        let (directory, name) = try parent(of: path)
        let (_, newName) = try parent(of: other)
        guard renameat(directory.number, name, directory.number, newName) == 0 else {
            throw .last("rename", path)
        }
    }

    /// The directory of a file below a place that may be changed, and its name there.
    private func parent(of path: String) throws(SystemError) -> (FileDescriptor, String) {
        guard let found = try parentIfAny(of: path) else { throw refusal(of: path) }
        return found
    }

    /// The same; nil if the path is not below such a place.
    ///
    /// openat2(2) could go the whole way at once. But the unit forbids it: the modes that it gives cannot
    /// be checked there.
    private func parentIfAny(
        of path: String
    ) throws(SystemError) -> (directory: FileDescriptor, name: String)? {
        let found =
            placed(path, in: places?.own) ?? placed(path, in: targets) ?? linked(path)
        guard let (place, rest) = found, !rest.isEmpty else { return nil }
        let names = rest.split(separator: "/").map(String.init)
        let flags = File.pathOnly | O_DIRECTORY | O_CLOEXEC
        var number = Glibc.open(place, flags)
        guard number >= 0 else { throw .last("open", place) }
        var directory = FileDescriptor(owning: number)
        for name in names.dropLast() {
            number = openat(directory.number, name, flags | O_NOFOLLOW)
            guard number >= 0 else { throw .last("openat", path) }
            directory = FileDescriptor(owning: number)
        }
        return names.last.map { (directory, $0) }
    }

    /// Where the places that may be changed are, if links lead there: SQLite names its files by the path
    /// without links.
    private var targets: [String] { (places?.own ?? []).compactMap { try? Path.real($0) } }

    /// Where the files are that are links by now, by the words of the link and without any link.
    private var linkedFiles: [String] {
        (places?.links ?? []).flatMap { link in
            Self.words(ofLink: link).flatMap { proven[$0] } ?? []
        }
    }

    /// Notes where links lead to databases of this program.
    ///
    /// It stays noted: while the database is replaced, there is none for a moment.
    private mutating func proveLinks() {
        guard let places else { return }
        for link in places.links {
            guard let words = Self.words(ofLink: link), proven[words] == nil,
                let file = try? Path.real(link),
                (try? Self.openDatabase(file, of: places.databases)) != nil
            else { continue }
            proven[words] = [words, file]
        }
    }

    /// The path that a link has, from the root; nil if it is not a link.
    private static func words(ofLink link: String) -> String? {
        guard let target = Path.target(ofLink: link) else { return nil }
        return target.hasPrefix("/") ? target : "\(Path.parent(of: link))/\(target)"
    }

    /// The directory of a file that a link leads to, or of one beside it that belongs to it, and the name
    /// there.
    private func linked(_ path: String) -> (place: String, rest: String)? {
        guard let file = linkedFiles.first(where: { path.hasPrefix($0) }) else { return nil }
        let place = Path.parent(of: file)
        let name = String(path.dropFirst(place == "/" ? 1 : place.count + 1))
        return name.utf8.contains(UInt8(ascii: "/")) ? nil : (place, name)
    }

    /// Whether a directory is where links lead.
    private func isTarget(_ path: String) -> Bool {
        targets.contains(path) || linkedFiles.contains { Path.parent(of: $0) == path }
    }

    /// The place that a path is in, and the rest of the path; nil if it is in none.
    private func placed(_ path: String, in places: [String]?) -> (place: String, rest: String)? {
        let found = (places ?? []).filter { path == $0 || path.hasPrefix("\($0)/") }
        guard let place = found.max(by: { $0.utf8.count < $1.utf8.count }) else { return nil }
        let rest = String(path.dropFirst(place.count + 1))
        let names = rest.utf8.split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let isPlain = names.allSatisfy { name in
            !name.isEmpty && !name.elementsEqual(".".utf8) && !name.elementsEqual("..".utf8)
        }
        return isPlain || rest.isEmpty ? (place, rest) : nil
    }

    /// Whether a path is that of a place whose files may be changed, or above it.
    private func isOnTheWay(_ path: String) -> Bool {
        let above = path == "/" ? path : "\(path)/"
        return (places?.own ?? []).contains { $0 == path || $0.hasPrefix(above) }
    }
}
