/// What several connections hold of something that all of them share, by their processes.
///
/// The process that holds the most pays for all, and of it the connection with the most. So nobody pays for
/// what others hold.
struct Shares<Holder: AnyObject> {
    private struct Share {
        var amount = 0
        var largest: (holder: Holder, amount: Int)
    }

    private var processes: [ObjectIdentifier: Share] = [:]
    private(set) var total = 0

    /// Adds what a connection holds.
    mutating func add(_ amount: Int, of holder: Holder, in process: AnyObject) {
        guard amount > 0 else { return }
        total += amount
        var share =
            processes[ObjectIdentifier(process)] ?? Share(largest: (holder, amount))
        share.amount += amount
        if amount > share.largest.amount { share.largest = (holder, amount) }
        processes[ObjectIdentifier(process)] = share
    }

    /// Who pays; nil if nobody holds anything.
    ///
    /// - Parameter newcomer: Pays if its process holds as much as any other.
    func payer(preferring newcomer: Holder?, in process: AnyObject?) -> Holder? {
        guard let most = processes.values.max(by: { $0.amount < $1.amount }) else { return nil }
        if let newcomer, let own = process.flatMap({ processes[ObjectIdentifier($0)] }),
            own.amount >= most.amount
        {
            return newcomer
        }
        return most.largest.holder
    }
}
