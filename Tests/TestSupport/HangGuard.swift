/// The one limit of time in the tests.
///
/// It ends what would never end by itself, and is far longer than anything takes on a busy machine. A test
/// waits for an event and does not measure how long that takes.
public enum HangGuard {
    /// Half an hour.
    public static let limit = Duration.seconds(seconds)

    /// The words before a command line that has to end by itself.
    public static let command = ["timeout", "--signal=KILL", "\(seconds)"]

    private static let seconds = 1800
}
