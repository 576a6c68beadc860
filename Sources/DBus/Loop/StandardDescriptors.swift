internal import Glibc

/// The descriptors of standard input, output and error.
public enum StandardDescriptors {
    /// Fills those that this program was started without, so that none of its files or sockets takes
    /// their place; what reads or writes there fails as it would without.
    public static func fill() {
        for (number, mode) in [(0, O_WRONLY), (1, O_RDONLY), (2, O_RDONLY)] as [(Int32, Int32)]
        where fcntl(number, F_GETFD) < 0 {
            // The lowest number that is free is this one, as those before are taken.
            _ = open("/dev/null", mode)
        }
    }
}
