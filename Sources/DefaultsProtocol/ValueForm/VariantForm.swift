package import DBus
import DefaultsTerms
package import KeyedArchive

/// The value form of an archive in D-Bus variants.
///
/// `GetValue` returns and `SetValue` takes this form. Numbers, strings and collections are the
/// D-Bus types for them. An object is a dictionary with its class under `$class`. The JSON spelling
/// of the same form is in `KeyedArchive`.
package enum VariantForm {
    /// The value of an archive.
    ///
    /// - Parameters:
    ///   - containers: How many containers of the message the value will be inside, including its
    ///     own variant. The nesting depth of a message is limited.
    ///   - budget: The limits for several archives. It is reduced by what was made, also if an
    ///     error is thrown.
    /// - Throws: ``ContractError`` with code `notRepresentable` if D-Bus cannot carry what the
    ///   archive contains, and `tooLarge` if the value would not fit into a reply.
    package static func value(
        of archive: KeyedArchive, inside containers: Int = 1, budget: inout ValueBudget
    ) throws -> Value {
        try value(inside: containers, budget: &budget) {
            try archive.render(into: &$0, mostValues: $1)
        }
    }

    /// The value of the archive that bytes are; see ``value(of:inside:budget:)``.
    ///
    /// - Throws: The same errors, and `ArchiveError` if the bytes are no archive.
    package static func value(
        validating bytes: [UInt8], inside containers: Int = 1, budget: inout ValueBudget
    ) throws -> Value {
        guard budget.values > 0, let scalar = ScalarArchive(bytes) else {
            let archive = try KeyedArchive(validating: bytes)
            return try value(of: archive, inside: containers, budget: &budget)
        }
        return try value(inside: containers, budget: &budget) { writer, _ in
            try scalar.render(into: &writer)
        }
    }

    /// The value that a closure writes.
    ///
    /// - Parameter render: Gets the writer, and the most values that it takes.
    private static func value(
        inside containers: Int, budget: inout ValueBudget,
        _ render: (inout VariantWriter, Int) throws -> Void
    ) throws -> Value {
        let allowed = ValueBudget(
            values: min(budget.values, ValueBudget.archive.values),
            bytes: min(budget.bytes, ValueBudget.archive.bytes))
        var writer = VariantWriter(inside: containers, budget: allowed)
        defer {
            budget.values -= allowed.values - writer.budget.values
            budget.bytes -= allowed.bytes - writer.budget.bytes
        }
        do {
            try render(&writer, allowed.values)
        } catch is TooManyValues {
            throw VariantWriter.tooMany
        } catch let error as ArchiveError where error.code == .outputTooLarge {
            throw VariantWriter.tooLarge
        } catch let error as ArchiveError where error.code == .outputTooDeep {
            throw VariantWriter.tooDeep
        }
        return writer.finish()
    }

    /// The value of one archive; see ``value(of:inside:budget:)``.
    package static func value(of archive: KeyedArchive) throws -> Value {
        var budget = ValueBudget.archive
        return try value(of: archive, budget: &budget)
    }

    /// The value of one archive; see ``value(validating:inside:budget:)``.
    package static func value(validating bytes: [UInt8]) throws -> Value {
        var budget = ValueBudget.archive
        return try value(validating: bytes, budget: &budget)
    }

    /// The archive of a value.
    ///
    /// - Throws: The errors of ``readArchive(from:remaining:)``.
    package static func archive(of value: Value) throws -> KeyedArchive {
        try archive(mostValues: ContractLimits.maximumValueCount) {
            try VariantReader.read(value, into: &$0)
        }.archive
    }

    /// Reads a value from a message, and makes an archive from it.
    ///
    /// - Parameter remaining: How many values may be read, including nested ones. It is reduced by
    ///   those that were read.
    /// - Throws: ``ContractError`` with code `invalidArguments` if an archive cannot contain a
    ///   value of this type, or if an object is spelled wrongly; `tooLarge` if the archive would be
    ///   above the size limit.
    package static func readArchive(
        from reader: inout MessageReader, remaining: inout Int
    ) throws -> KeyedArchive {
        let (archive, count) = try archive(mostValues: remaining) {
            try VariantReader.read(from: &reader, into: &$0)
        }
        remaining -= count
        return archive
    }

    private static func archive(
        mostValues: Int, _ read: (inout ValueFormBuilder) throws -> Void
    ) throws -> (archive: KeyedArchive, count: Int) {
        var builder = ValueFormBuilder(limits: limits(count: mostValues))
        do {
            try read(&builder)
            return (builder.finish(), builder.count)
        } catch let error as ValueFormError {
            guard error.code == .limitExceeded else {
                throw ContractError(.invalidArguments, error.description)
            }
            guard builder.count < mostValues else { throw tooManyValues }
            throw ContractError(.tooLarge, "\(error) Send it as an archive with Set.")
        }
    }

    private static var tooManyValues: ContractError {
        ContractError(
            .tooLarge,
            "One call takes at most \(ContractLimits.maximumValueCount) values, including nested ones. "
                + "Send them as archives with Set or Apply.")
    }

    /// The limits for a value that a caller sends: hardly more than an archive may contain, and few
    /// enough values that making the archive does not block other callers for seconds.
    private static func limits(count: Int) -> ValueFormLimits {
        ValueFormLimits(
            size: ContractLimits.maximumValueSize + 8 * ContractLimits.maximumValueCount, depth: 64,
            count: count)
    }
}
