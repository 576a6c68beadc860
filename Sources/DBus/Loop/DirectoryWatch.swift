import CLinux
import Glibc
import SystemCalls

/// Watches directories, the files in them, and the paths that lead to them, with inotify(7).
///
/// Invariants:
/// 1. A file counts as changed when the program that wrote it closes it, or when it gets or loses a
///    name. A new name may belong to a file that is still being written, or be a link to an
///    existing file. These two cases are distinguished.
/// 2. Only some events count in a directory on the path to a watched one: its own removal and, if
///    the next directory of the path is missing, the creation of that one. There is much other
///    activity in /etc.
/// 3. Links are followed, and the links themselves are watched, too.
/// 4. If a directory cannot be read, its parent is watched.
///
/// It reports that something has changed, but not what. The receiver must make a new watch and then
/// read everything, in this order.
package final class DirectoryWatch {
    /// The events of interest in a directory.
    private struct Interest {
        let path: String
        /// The names whose arrival is of interest; nil if every event is.
        var names: Set<String>?
    }

    /// The kind of event.
    package enum Sign {
        /// Something has changed.
        case change
        /// There is a new file, which may still be being written.
        case newFile
    }

    private let descriptor: Int32
    private var failure: WatchFailure?
    private var watch: EventLoop.Watch?
    private var interests: [Int32: Interest] = [:]

    /// Starts watching.
    ///
    /// - Parameters:
    ///   - directories: Paths. They need not exist.
    ///   - changed: Called on the loop, at least once after a change.
    /// - Throws: If the system has no more watches.
    package init(
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

/// The system has refused a watch.
package struct WatchFailure: Error {
    /// An `errno`.
    package let number: Int32
}

// MARK: What is watched

extension DirectoryWatch {
    private static let ownFate = UInt32(IN_DELETE_SELF | IN_MOVE_SELF)
    private static let arrivals = UInt32(IN_CREATE | IN_MOVED_TO)
    private static let contents =
        arrivals | UInt32(IN_CLOSE_WRITE | IN_MOVED_FROM | IN_DELETE | IN_ATTRIB)
    private static let fileFate = ownFate | UInt32(IN_CLOSE_WRITE | IN_ATTRIB)

    /// Watches a directory, its subdirectories, and the targets of the links in it.
    private func addDirectory(_ path: String, isNested: Bool = false) {
        guard let place = follow(path) else { return }
        // A directory that cannot be read now may be readable later.
        add(place, Self.contents, names: nil)
        // A confined daemon may list a directory by the path that it was given, and not by another one.
        for entry in (try? Directory.entries(in: path)) ?? [] {
            guard !entry.isRegular, !entry.name.hasPrefix(".") else { continue }
            if isNested {
                _ = follow("\(path)/\(entry.name)")
            } else {
                addDirectory("\(path)/\(entry.name)", isNested: true)
            }
        }
    }

    /// Watches the path to a file or directory, and the file itself.
    ///
    /// - Returns: Its path without links; nil if it does not exist.
    private func follow(_ path: String) -> String? {
        var rest = path.split(separator: "/").map(String.init)[...]
        var place = path.hasPrefix("/") ? "" : (try? Path.workingDirectory()) ?? ""
        // As many links as the kernel follows.
        var links = 40
        while let name = rest.popFirst() {
            let next = "\(place)/\(name)"
            guard let status = FileStatus.ifAny(next, followingLinks: false) else {
                add(place.isEmpty ? "/" : place, Self.arrivals, names: [name])
                return nil
            }
            switch status.kind {
            case .link:
                add(next, Self.fileFate | UInt32(IN_DONT_FOLLOW))
                guard links > 0, let target = Path.target(ofLink: next) else { return nil }
                links -= 1
                if target.hasPrefix("/") { place = "" }
                rest = (target.split(separator: "/").map(String.init) + rest)[...]
            case .directory:
                if !add(next, Self.ownFate | UInt32(IN_ATTRIB)) {
                    add(
                        place.isEmpty ? "/" : place, Self.arrivals | UInt32(IN_ATTRIB),
                        names: [name])
                }
                place = Self.joined(place, name)
            case .regular, .pipe, .socket, .device:
                add(next, Self.fileFate)
                return rest.isEmpty ? next : nil
            }
        }
        return place.isEmpty ? "/" : place
    }

    /// The path of a name in a directory.
    ///
    /// The target of a link may begin with `..`.
    private static func joined(_ place: String, _ name: String) -> String {
        switch name {
        case ".": place
        case "..": String(place[..<(place.lastIndex(of: "/") ?? place.startIndex)])
        default: "\(place)/\(name)"
        }
    }

    /// - Returns: Whether it is watched.
    @discardableResult
    private func add(_ path: String, _ events: UInt32, names: Set<String>? = []) -> Bool {
        // The same directory may be on the path to one place and the end of the path to another.
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

// MARK: What is reported

extension DirectoryWatch {
    /// Reads the events.
    ///
    /// - Returns: The kind of event that matters; nil if none does.
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
        // A new file that is being written has another event later. A new link to an existing file
        // does not.
        let status = FileStatus.ifAny("\(interest.path)/\(event.name)", followingLinks: false)
        return status?.kind == .regular && status?.linkCount == 1 ? .newFile : .change
    }

    /// A record of inotify(7).
    private struct Event {
        let watch: Int32
        let name: String
        private let mask: UInt32

        /// Takes the next record from the bytes that the system has written; nil if there is none.
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
