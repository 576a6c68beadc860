import Foundation

/// How much of what can be tried the tests try.
///
/// A build for tests is not optimised, so trying everything takes minutes. `make fuzz` tries everything.
public enum Thoroughness {
    /// Whether everything is tried: DEFAULTSD_THOROUGH=1 is in the environment.
    public static let isWhole =
        ProcessInfo.processInfo.environment["DEFAULTSD_THOROUGH"] == "1"

    /// Where in a sequence of some length something is tried: everywhere in a short one, else at each seventh
    /// place, beginning at another one for other lengths.
    public static func places(in count: Int) -> StrideTo<Int> {
        let step = isWhole || count <= 64 ? 1 : 7
        return stride(from: count % step, to: count, by: step)
    }

    /// How many of some tries are made.
    public static func tries(_ count: Int) -> Int { isWhole ? count : max(1, count / 7) }
}
