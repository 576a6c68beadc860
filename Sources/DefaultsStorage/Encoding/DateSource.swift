/// Where a database has the date from: the system's, or that of a test.
///
/// It dates what is kept: backups, repairs, and the times of changes. Nothing depends on it that must not be
/// lost: it may be set back or forward by years. Any thread may ask.
package struct DateSource: Sendable {
    private let seconds: @Sendable () -> Int

    /// - Parameter seconds: The present time in seconds since 1970.
    package init(_ seconds: @escaping @Sendable () -> Int) {
        self.seconds = seconds
    }

    /// The present time in seconds since 1970, limited to years with four digits.
    package var now: UInt64 { min(UInt64(clamping: seconds()), Timestamp.lastSecond) }
}
