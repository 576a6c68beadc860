import CLinux
import DBus
import Glibc

/// Watches directories of files, those in them, and all that leads to them, by inotify(7).
///
/// Invariants:
/// 1. A file counts as changed when who wrote it closes it, or when it gets another name or loses one.
///    A new name may be that of a file that is being written, or of one that is a link to another's
///    contents; that is told apart.
/// 2. Of what lies on the way to a directory only its own fate is told and, if the way ends, the
///    arrival of what is missing: much else goes on in /etc.
/// 3. Links are followed, and watched themselves.
/// 4. A directory that cannot be read is watched from the one that it is in.
///
/// It tells that something has changed, and not what: whoever is told makes a new watch and looks at
/// everything, in this order.
final class DirectoryWatch {
    /// What is of interest in a directory.
    private struct Interest {
        let path: String
        /// The names whose arrival is of interest; nil for everything that happens there.
        var names: Set<String>?
    }

    /// What has happened.
    enum Sign {
        /// Something is another than before.
        case change
        /// There is a new file, which may still be written.
        case newFile
    }

    private let descriptor: Int32
    private var failure: WatchFailure?
    private var watch: EventLoop.Watch?
    private var interests: [Int32: Interest] = [:]

    /// Begins to watch.
    ///
    /// - Parameters:
    ///   - directories: Paths, of which nothing needs to be there.
    ///   - changed: Called on the loop, at least once after a change.
    /// - Throws: If the system has no more watches to give.
    init(
        _ directories: [String], on loop: EventLoop, _ changed: @escaping (Sign) -> Void
    ) throws(WatchFailure) {
        descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        guard descriptor >= 0 else { throw WatchFailure(number: errno) }
        for directory in directories { addDirectory(directory) }
        if let failure { throw failure }
        watch = loop.watch(descriptor, for: .readable) { [unowned self] _ in
            if let sign = readSign() { changed(sign) }
        }
    }

    deinit {
        watch?.cancel()
        close(descriptor)
    }
}

/// The system gives no watch.
struct WatchFailure: Error {
    /// An `errno`.
    let number: Int32
}

// MARK: What is watched

extension DirectoryWatch {
    private static let ownFate = UInt32(IN_DELETE_SELF | IN_MOVE_SELF)
    private static let arrivals = UInt32(IN_CREATE | IN_MOVED_TO)
    private static let contents =
        arrivals | UInt32(IN_CLOSE_WRITE | IN_MOVED_FROM | IN_DELETE | IN_ATTRIB)
    private static let fileFate = ownFate | UInt32(IN_CLOSE_WRITE | IN_ATTRIB)

    /// Watches a directory, the directories in it, and the targets of the links in them.
    private func addDirectory(_ path: String, isNested: Bool = false) {
        guard let place = follow(path) else { return }
        // Also one whose names cannot be read now may be, later.
        add(place, Self.contents, names: nil)
        guard let directory = opendir(place) else { return }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let kind = Int32(entry.pointee.d_type)
            let name = Self.name(of: entry)
            guard kind != Int32(DT_REG), !name.hasPrefix(".") else { continue }
            if isNested {
                _ = follow("\(place)/\(name)")
            } else {
                addDirectory("\(place)/\(name)", isNested: true)
            }
        }
    }

    private static func name(of entry: UnsafeMutablePointer<dirent>) -> String {
        // The field is a C string in an array of fixed size; the string copies.
        withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    /// Watches all that leads to a file or directory, and a file itself.
    ///
    /// - Returns: Its path without links; nil if it is not there.
    private func follow(_ path: String) -> String? {
        var rest = path.split(separator: "/").map(String.init)[...]
        var place = path.hasPrefix("/") ? "" : Self.workingDirectory
        // As many links as the kernel follows.
        var links = 40
        while let name = rest.popFirst() {
            let next = "\(place)/\(name)"
            var status = stat()
            guard lstat(next, &status) == 0 else {
                add(place.isEmpty ? "/" : place, Self.arrivals, names: [name])
                return nil
            }
            switch status.st_mode & S_IFMT {
            case S_IFLNK:
                add(next, Self.fileFate | UInt32(IN_DONT_FOLLOW))
                guard links > 0, let target = Self.target(of: next) else { return nil }
                links -= 1
                if target.hasPrefix("/") { place = "" }
                rest = (target.split(separator: "/").map(String.init) + rest)[...]
            case S_IFDIR:
                if !add(next, Self.ownFate | UInt32(IN_ATTRIB)) {
                    add(
                        place.isEmpty ? "/" : place, Self.arrivals | UInt32(IN_ATTRIB),
                        names: [name])
                }
                place = Self.joined(place, name)
            default:
                add(next, Self.fileFate)
                return rest.isEmpty ? next : nil
            }
        }
        return place.isEmpty ? "/" : place
    }

    /// The path of a name in a directory; a link may lead upwards.
    private static func joined(_ place: String, _ name: String) -> String {
        switch name {
        case ".": place
        case "..": String(place[..<(place.lastIndex(of: "/") ?? place.startIndex)])
        default: "\(place)/\(name)"
        }
    }

    private static var workingDirectory: String {
        // The result is malloc's and freed here once it is copied.
        guard let path = getcwd(nil, 0) else { return "" }
        defer { free(path) }
        return String(cString: path)
    }

    private static func target(of link: String) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink(link, &buffer, buffer.count)
        guard length > 0 else { return nil }
        return String(decoding: buffer.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// - Returns: Whether it is watched.
    @discardableResult
    private func add(_ path: String, _ events: UInt32, names: Set<String>? = []) -> Bool {
        // The same directory may be on the way to one place and the end of the way to another.
        let number = inotify_add_watch(descriptor, path, events | UInt32(IN_MASK_ADD))
        guard number >= 0 else {
            if errno == ENOSPC || errno == ENOMEM { failure = WatchFailure(number: errno) }
            return false
        }
        let known = interests[number]
        let isForAll = names == nil || (known != nil && known?.names == nil)
        interests[number] = Interest(
            path: path, names: isForAll ? nil : (known?.names ?? []).union(names ?? []))
        return true
    }
}

// MARK: What is told

extension DirectoryWatch {
    /// Reads what the system tells.
    ///
    /// - Returns: What is of interest; nil if nothing is.
    private func readSign() -> Sign? {
        var sign: Sign?
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return sign }
            var rest = buffer.prefix(count)
            while let event = Event(&rest) {
                if let one = self.sign(of: event), sign != .change { sign = one }
            }
        }
    }

    private func sign(of event: Event) -> Sign? {
        if event.has(IN_Q_OVERFLOW) { return .change }
        guard !event.has(IN_IGNORED), let interest = interests[event.watch] else { return nil }
        guard !event.name.isEmpty else { return .change }
        if let names = interest.names { return names.contains(event.name) ? .change : nil }
        guard event.has(IN_CREATE), !event.has(IN_ISDIR) else { return .change }
        // Of a new file it is told again when it is written; of another name for one it is not.
        var status = stat()
        let isFile =
            lstat("\(interest.path)/\(event.name)", &status) == 0
            && status.st_mode & S_IFMT == S_IFREG && status.st_nlink == 1
        return isFile ? .newFile : .change
    }

    /// One record of inotify(7).
    private struct Event {
        let watch: Int32
        let name: String
        private let mask: UInt32

        /// Takes the next record from bytes that the system has written; nil if there is none.
        init?(_ bytes: inout ArraySlice<UInt8>) {
            let size = MemoryLayout<inotify_event>.size
            guard bytes.count >= size else { return nil }
            let event = bytes.withUnsafeBytes { $0.loadUnaligned(as: inotify_event.self) }
            (watch, mask) = (event.wd, event.mask)
            let name = bytes.dropFirst(size).prefix(Int(event.len))
            self.name = String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
            bytes = bytes.dropFirst(size + Int(event.len))
        }

        func has(_ flag: Int32) -> Bool { mask & UInt32(flag) != 0 }
    }
}
