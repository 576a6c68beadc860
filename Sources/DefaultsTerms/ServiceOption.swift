/// What can be set about the service itself.
package enum ServiceOption: String, NumberOption {
    /// How long after the last change everything is written to disk, in milliseconds.
    case writeDelay = "WriteDelay"
    /// How long after the first change it is written at the latest, in milliseconds.
    case longestWriteDelay = "LongestWriteDelay"

    /// The domain whose keys they are.
    package static let domain = "org.defaultsd.Service"

    /// The value without a setting.
    package var standard: Int {
        switch self {
        case .writeDelay: 250
        case .longestWriteDelay: 2000
        }
    }

    /// The least and the largest value.
    package var bounds: ClosedRange<Int> {
        switch self {
        case .writeDelay: 0...10_000
        case .longestWriteDelay: 0...60_000
        }
    }
}
