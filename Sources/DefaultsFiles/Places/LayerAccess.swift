internal import Glibc

/// Who can read and write a file or a directory of a place, by its mode.
package enum LayerAccess {
    /// Remarks about the mode: every user's daemon must be able to read it, and only the owner
    /// should write it.
    ///
    /// Links are followed. A file whose mode cannot be read is reported when it is read.
    package static func remarks(of path: String) -> [LayerProblem] {
        var status = stat()
        guard stat(path, &status) == 0 else { return [] }
        let needed = status.st_mode & S_IFMT == S_IFDIR ? S_IROTH | S_IXOTH : S_IROTH
        let mode = octal(status.st_mode)
        var remarks: [LayerProblem] = []
        if status.st_mode & needed != needed {
            remarks.append(.notForAllUsers(path, mode: mode, isDirectory: needed != S_IROTH))
        }
        if status.st_mode & S_IWOTH != 0 {
            remarks.append(.writable(path, mode: mode, by: "every user"))
        } else if status.st_mode & S_IWGRP != 0, status.st_gid != 0 {
            remarks.append(.writable(path, mode: mode, by: "its group, number \(status.st_gid)"))
        }
        return remarks
    }

    /// The mode in four octal digits, as for `chmod`.
    private static func octal(_ mode: mode_t) -> String {
        let digits = String(mode & 0o7777, radix: 8)
        return String(repeating: "0", count: 4 - digits.count) + digits
    }
}
