internal import Glibc
internal import SystemCalls

/// Checks who can read and write a file or a directory of a place, by its mode.
package enum LayerAccess {
    /// Remarks about the mode: every user's daemon must be able to read the file, and only its
    /// owner should be able to write it.
    ///
    /// Links are followed. A file whose mode cannot be read is reported when it is read.
    package static func remarks(of path: String) -> [LayerProblem] {
        guard let status = FileStatus.ifAny(path) else { return [] }
        let needed = status.kind == .directory ? S_IROTH | S_IXOTH : S_IROTH
        let mode = octal(status.mode)
        var remarks: [LayerProblem] = []
        if status.mode & needed != needed {
            remarks.append(.notForAllUsers(path, mode: mode, isDirectory: needed != S_IROTH))
        }
        if status.mode & S_IWOTH != 0 {
            remarks.append(.writable(path, mode: mode, by: "every user"))
        } else if status.mode & S_IWGRP != 0, status.group != 0 {
            remarks.append(.writable(path, mode: mode, by: "its group, number \(status.group)"))
        }
        return remarks
    }

    /// The mode in four octal digits, as for `chmod`.
    private static func octal(_ mode: mode_t) -> String {
        let digits = String(mode, radix: 8)
        return String(repeating: "0", count: 4 - digits.count) + digits
    }
}
