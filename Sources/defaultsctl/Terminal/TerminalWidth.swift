@preconcurrency import Glibc

/// How much room a line has.
enum TerminalWidth {
    /// The columns of a terminal; 80 where it does not tell, or is none.
    static func columns(of descriptor: Int32) -> Int {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
