internal import CLinux
internal import Glibc

/// What is mounted where, as the kernel lists it for a process.
///
/// See [proc(5)](https://man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html).
package struct MountTable {
    /// More than the lists of machines with thousands of mounts.
    private static let largestSize = 1 << 20

    private let text: String

    /// Takes the text of a list.
    package init(text: String) {
        self.text = text
    }

    /// Reads the list of a process; nil if it cannot be read.
    ///
    /// - Parameters:
    ///   - process: The directory of the process in `/proc`.
    ///   - size: How many bytes are read at most.
    package init?(ofProcess process: String, atMost size: Int) {
        guard let file = try? File("\(process)/mountinfo", O_RDONLY),
            let bytes = try? file.read(size, at: 0)
        else { return nil }
        self.init(text: String(decoding: bytes, as: UTF8.self))
    }

    /// The list of this process.
    package static var current: MountTable? {
        MountTable(ofProcess: "/proc/self", atMost: largestSize)
    }

    /// The number of a device as the list has it.
    package static func number(of device: some BinaryInteger) -> String {
        let device = dev_t(truncatingIfNeeded: device)
        return "\(gnu_dev_major(device)):\(gnu_dev_minor(device))"
    }

    /// The type that a device is mounted as; nil if the list does not have it.
    package func type(ofDevice number: String) -> String? {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            // After the sixth word come optional ones, and then a dash.
            guard words.count > 6, words[2] == number,
                let dash = words[6...].firstIndex(of: "-"), dash + 1 < words.count
            else { continue }
            return String(words[dash + 1])
        }
        return nil
    }
}
