import CLinux
import Glibc
import SystemCalls

// Invariants
//
// 1. Whatever a caller has mounted or written, the examination neither waits for it nor changes
//    anything. So a root directory is only named (O_PATH) and identified by what the kernel has in
//    memory. Its files are read only if they are in memory, too (tmpfs): a program of the caller could
//    serve any other file system, and not answer (FUSE).
// 2. Everything is read before the process is seen to be alive. So it was the one that is meant
//    throughout.

/// What its files say about a process.
struct ExaminedProcess {
    /// Where it lives.
    let place: ProcessPlace
    /// The Flatpak app to which it belongs; nil if none is proven.
    let flatpak: String?

    init(place: ProcessPlace, flatpak: String?) {
        self.place = place
        self.flatpak = flatpak
    }

    /// Examines a process by its number.
    ///
    /// A process can end, and another one can get its number. A reference (see pidfd_open(2))
    /// always means the same process. If that process is alive after the examination, it had the
    /// number throughout.
    ///
    /// - Parameters:
    ///   - reference: The process that is meant; nil for the one that has the number now.
    ///   - instances: Those to which it may belong.
    /// - Returns: Nil if the process has ended, or cannot be examined.
    init?(_ number: UInt32, reference: FileDescriptor?, among instances: FlatpakInstances) {
        guard let number = Int32(exactly: number),
            let reference = reference ?? ProcessReference.make(number)
        else { return nil }
        self.init(at: "/proc/\(number)", among: instances)
        guard ProcessReference.isAlive(reference) else { return nil }
    }

    /// - Parameter path: The directory of the process in `/proc`.
    init?(at path: String, among instances: FlatpakInstances) {
        guard let root = RootDirectory(ofProcess: path) else { return nil }
        guard let place = ProcessPlace(ofProcess: path, in: root) else { return nil }
        // We could not tell the callers in our own sandbox apart: their files are ours.
        let mark = place == ProcessPlace.own ? nil : root.contentsOfMark()
        self.init(place: place, flatpak: mark.flatMap(instances.application(markedBy:)))
    }
}

/// References to processes, see pidfd_open(2).
enum ProcessReference {
    /// A reference to the process that has this number now; nil if there is none.
    static func make(_ number: Int32) -> FileDescriptor? {
        let descriptor = clinux_open_process(number)
        return descriptor >= 0 ? FileDescriptor(owning: descriptor) : nil
    }

    /// Whether a process is running.
    ///
    /// Its reference becomes readable when it ends.
    static func isAlive(_ reference: FileDescriptor) -> Bool {
        var entry = pollfd(fd: reference.number, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) == 0
    }
}

/// Where a process lives: its root directory, its users and its mounts.
///
/// A sandbox differs from its host in at least one of them. The root directory of a Flatpak app also has
/// a mark.
package struct ProcessPlace: Sendable, Hashable {
    private let root: FileIdentity
    private let userNamespace: FileIdentity
    private let mountNamespace: FileIdentity
    private let mark: FileIdentity?

    /// The place of this process; nil without `/proc`.
    package static let own: ProcessPlace? = {
        let path = "/proc/self"
        guard let root = RootDirectory(ofProcess: path) else { return nil }
        return ProcessPlace(ofProcess: path, in: root)
    }()

    /// - Parameter path: The directory of the process in `/proc`.
    init?(ofProcess path: String, in root: borrowing RootDirectory) {
        guard let user = FileIdentity(of: "\(path)/ns/user"),
            let mount = FileIdentity(of: "\(path)/ns/mnt")
        else { return nil }
        self.root = root.identity
        userNamespace = user
        mountNamespace = mount
        mark = root.mark
    }

    /// Takes one out that another process has put in.
    init?(takenFrom parcel: inout Parcel) {
        guard let root = FileIdentity(takenFrom: &parcel),
            let user = FileIdentity(takenFrom: &parcel),
            let mount = FileIdentity(takenFrom: &parcel), let isMarked = parcel.takeNumber()
        else { return nil }
        (self.root, userNamespace, mountNamespace) = (root, user, mount)
        mark = isMarked == 1 ? FileIdentity(takenFrom: &parcel) : nil
        guard isMarked == 0 || mark != nil else { return nil }
    }

    func put(into parcel: inout Parcel) {
        root.put(into: &parcel)
        userNamespace.put(into: &parcel)
        mountNamespace.put(into: &parcel)
        parcel.put(mark == nil ? UInt64(0) : 1)
        mark?.put(into: &parcel)
    }
}

/// The root directory of a process.
struct RootDirectory: ~Copyable {
    /// Its identity.
    let identity: FileIdentity
    private let fileSystem: FileSystem
    private let directory: File

    private enum FileSystem {
        case ours
        case memory
        /// Nothing may be looked up here.
        case other
    }

    /// The mark of a Flatpak: a file that every program in it sees.
    static let nameOfMark = ".flatpak-info"
    /// Larger than any mark that Flatpak writes.
    static let largestMark = 64 << 10
    /// The root is one of the first mounts, because the others are below it.
    private static let mountsRead = 64 << 10

    private static let own = FileIdentity(of: "/")

    /// - Parameter path: The directory of the process in `/proc`.
    init?(ofProcess path: String) {
        guard let directory = try? File("\(path)/root", File.pathOnly | O_DIRECTORY),
            let identity = FileIdentity(cachedOfDescriptor: directory.descriptor)
        else { return nil }
        self.directory = directory
        self.identity = identity
        fileSystem = identity == Self.own ? .ours : Self.fileSystem(of: identity, in: path)
    }

    private static func fileSystem(of root: FileIdentity, in process: String) -> FileSystem {
        let mounts = MountTable(ofProcess: process, atMost: mountsRead)
        let type = mounts?.type(ofDevice: MountTable.number(of: root.device))
        return type == "tmpfs" ? .memory : .other
    }

    /// The identity of the mark, whatever kind of file that is; nil if there is none.
    ///
    /// Also nil if looking for it could wait. Then the directory differs from ours by its identity.
    var mark: FileIdentity? {
        guard let mark = openMark() else { return nil }
        return FileIdentity(cachedOfDescriptor: mark.descriptor)
    }

    /// The bytes of the mark; nil if it is not such a file as Flatpak makes.
    ///
    /// In an app, another file is mounted over it. Flatpak keeps both in one file system.
    func contentsOfMark() -> [UInt8]? {
        guard case .memory = fileSystem, let mark = openMark(),
            FileIdentity(cachedOfDescriptor: mark.descriptor)?.device == identity.device
        else { return nil }
        let path = "/proc/self/fd/\(mark.descriptor)"
        guard let file = try? File(path, O_RDONLY | O_NONBLOCK) else { return nil }
        return FlatpakInstances.contents(of: file, atMost: Self.largestMark)
    }

    /// Opens the mark without its contents, even if it is a symbolic link.
    private func openMark() -> File? {
        if case .other = fileSystem { return nil }
        return try? File(Self.nameOfMark, File.pathOnly | O_NOFOLLOW, in: directory)
    }
}
