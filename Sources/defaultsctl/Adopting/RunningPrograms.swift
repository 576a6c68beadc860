@preconcurrency import Glibc
import SystemCalls

/// The programs of this user that run now.
enum RunningPrograms {
    /// The most bytes of a list of libraries that are read.
    private static let largestList = 4 << 20

    /// The names and numbers of the programs that have loaded a library, in the order of their numbers.
    static func names(loading library: String) -> [String] {
        Directory.readableNames(in: "/proc").compactMap { Int32($0) }.sorted().compactMap {
            process in
            guard process != getpid(), FileStatus.ifAny("/proc/\(process)")?.owner == geteuid(),
                let maps = try? File("/proc/\(process)/maps", O_RDONLY).contents(
                    atMost: largestList),
                String(decoding: maps, as: UTF8.self).contains("/\(library)")
            else { return nil }
            return "\(name(of: process)) (process \(process))"
        }
    }

    private static func name(of process: Int32) -> String {
        let bytes = (try? File("/proc/\(process)/comm", O_RDONLY).contents(atMost: 64)) ?? nil
        return String(decoding: bytes ?? [], as: UTF8.self).filter { $0 != "\n" }.onOneLine
    }
}
