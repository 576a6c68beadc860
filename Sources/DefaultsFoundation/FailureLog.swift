/// The first error of an archive's coders.
final class FailureLog {
    private(set) var first: ObjectCodingError?

    func note(_ error: ObjectCodingError) {
        first = first ?? error
    }
}
