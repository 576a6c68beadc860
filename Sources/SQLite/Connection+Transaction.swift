extension Connection {
    /// Runs `body` as one transaction: all that it wrote is kept, or nothing.
    ///
    /// The transaction takes the right to write at once, so that it cannot fail half-way because
    /// another connection wrote in between. Transactions do not nest.
    ///
    /// - Returns: What `body` returns, after the commit. With `synchronous = FULL` it is then on
    ///   disk.
    /// - Throws: What `body` throws, or SQLite's refusal to begin or to commit. Nothing is kept.
    public func transaction<Result>(
        _ body: () throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> Result {
        precondition(!isInTransaction, "a transaction is open already, and they do not nest")
        try execute("BEGIN IMMEDIATE")
        do {
            let result = try body()
            try execute("COMMIT")
            return result
        } catch {
            // Some errors have rolled back already. Where this one fails, too, the first error is
            // the one that tells the cause.
            if isInTransaction { try? execute("ROLLBACK") }
            throw error
        }
    }
}
