/// What may still be decoded of an archive.
///
/// Once it is spent it stays so: what asks for more than is left gets nothing, and nobody gets
/// anything after that.
struct DecodingBudget {
    /// What a value costs beside the bytes of its text or data.
    static let valueCost = 8

    private var rest: Int
    /// Where it was spent, as soon as somebody knows that.
    fileprivate var exhaustion: DecodingError?

    init(_ size: Int) {
        rest = size
    }

    fileprivate var isSpent: Bool { rest < 0 }

    /// Takes so many bytes, which are not negative.
    @inline(__always)
    fileprivate mutating func take(_ size: Int) -> Bool {
        guard size <= rest else {
            rest = -1
            return false
        }
        rest -= size
        return true
    }
}

extension DecodingSession {
    /// Takes `size` bytes and what a value costs from the budget.
    func spend(_ size: Int, at location: DecodingLocation) throws {
        guard affords(size + DecodingBudget.valueCost) else { throw exhaustion(at: location) }
    }

    /// Takes `size` bytes from the budget where nothing can be thrown; where that is false, nothing
    /// may be read, and whatever is made of it, decoding is an error in the end.
    func affords(_ size: Int) -> Bool {
        budget.take(size)
    }

    /// Checks that the budget is not spent, for then things are missed that are in the archive.
    func checkBudget(at location: DecodingLocation) throws {
        if isSpent { throw exhaustion(at: location) }
    }

    var isSpent: Bool { budget.isSpent }

    private func exhaustion(at location: DecodingLocation) -> DecodingError {
        if let known = budget.exhaustion { return known }
        let error = DecodingError.tooLarge(limit: options.limits.size, at: location.path)
        budget.exhaustion = error
        return error
    }
}
