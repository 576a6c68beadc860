package import DBus
import DefaultsTerms
package import KeyedArchive

/// The value form of an archive, spelled in D-Bus variants.
///
/// It is how `GetValue` and `SetValue` show and take an archive. Numbers, strings and collections
/// are their D-Bus counterparts; an object is a dictionary with its class under `$class`. The JSON
/// spelling of the same form is in `KeyedArchive`.
package enum VariantForm {
    /// The value that stands for an archive.
    ///
    /// - Parameters:
    ///   - containers: How many containers of the message it will stand in, its own variant counted: a
    ///     message carries only so many in each other.
    ///   - budget: What may be made of several archives; lowered by what was, also where it throws in
    ///     the end.
    /// - Throws: ``DefaultsError`` with code `notRepresentable` where the archive holds what D-Bus
    ///   cannot carry, and `tooLarge` where the value would not fit into a reply.
    package static func value(
        of archive: KeyedArchive, inside containers: Int = 1, budget: inout ValueBudget
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
            try archive.render(into: &writer, mostValues: allowed.values)
        } catch is TooManyValues {
            throw VariantWriter.tooMany
        } catch let error as ArchiveError where error.code == .outputTooLarge {
            throw VariantWriter.tooLarge
        } catch let error as ArchiveError where error.code == .outputTooDeep {
            throw VariantWriter.tooDeep
        }
        return writer.finish()
    }

    /// The value that stands for one archive, as ``value(of:inside:budget:)`` makes it.
    package static func value(of archive: KeyedArchive) throws -> Value {
        var budget = ValueBudget.archive
        return try value(of: archive, budget: &budget)
    }

    /// Reads a value from a message, and makes the archive that it stands for.
    ///
    /// - Parameter remaining: How many values may be read, those inside others counted; lowered by
    ///   those that were.
    /// - Throws: ``DefaultsError`` with code `invalidArguments` where the value is of a type that
    ///   no archive has, or spells an object wrongly; `tooLarge` where it is larger than any
    ///   archive that is stored.
    package static func readArchive(
        from reader: inout MessageReader, remaining: inout Int
    ) throws -> KeyedArchive {
        var builder = ValueFormBuilder(limits: limits(count: remaining))
        do {
            try VariantReader.read(from: &reader, into: &builder)
            remaining -= builder.count
            return builder.finish()
        } catch let error as ValueFormError {
            guard error.code == .limitExceeded else {
                throw DefaultsError(.invalidArguments, error.description)
            }
            guard builder.count < remaining else { throw tooManyValues }
            throw DefaultsError(.tooLarge, "\(error) Set takes it as an archive, in one piece.")
        }
    }

    private static var tooManyValues: DefaultsError {
        DefaultsError(
            .tooLarge,
            "One call brings at most \(ContractLimits.maximumValueCount) values, those inside others counted. "
                + "Set and Apply take them as archives, in one piece.")
    }

    /// What a caller may send as one value: hardly more than an archive may hold, in so few pieces
    /// that others do not wait for seconds until they are put together.
    private static func limits(count: Int) -> ValueFormLimits {
        ValueFormLimits(
            size: ContractLimits.maximumValueSize + 8 * ContractLimits.maximumValueCount, depth: 64,
            count: count)
    }
}
