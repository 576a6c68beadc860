import DefaultsClient
import Glibc

/// What takes how long: `measure KIND …` prints lines of a kind and microseconds.
struct Measurement {
    private let words: [String]

    init(_ words: ArraySlice<String>) {
        self.words = Array(words)
    }

    func go() async {
        stop("No such kind: \(words)")
    }
}
