internal import CLinux
internal import Glibc

/// The holes of a file: parts that were never written, and are read as zeros.
///
/// A program can give a file any size at no cost. So a search of a file that other programs may have changed
/// skips the holes. A file system that does not report holes seems to have none.
extension File {
    /// The first offset, from a given one on, at which there is data; nil if the rest is a hole.
    package func nextData(from offset: Int) -> Int? {
        let next = retrying { lseek(descriptor, off_t(offset), clinux_seek_data()) }
        if next >= 0 { return Int(next) }
        return errno == ENXIO ? nil : offset
    }

    /// The size of the file without the hole at its end.
    package func sizeOfData() throws(SystemError) -> Int {
        let size = try size()
        var end = 0
        while let data = nextData(from: end), data < size {
            let hole = retrying { lseek(descriptor, off_t(data), clinux_seek_hole()) }
            guard hole > data else { return size }
            end = min(Int(hole), size)
        }
        return end
    }
}
