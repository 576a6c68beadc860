import DBus
package import KeyedArchive

// Invariants
//
// 1. A value that is set by a program that knows less than the one before keeps the type of the former
//    value, if it fits. A value with a type of its own has that.
// 2. A reader that knows nothing of exact types finds the value without its type.

/// Archives and the exact types of what they contain.
extension KeyedArchive {
    /// Whether a value in it may have a marker of an exact type.
    package var mayHaveMarkers: Bool {
        // The name of a class is in ASCII in every archive.
        let (text, name) = (bytes.span, Array(ExactValue.className.utf8))
        var matched = 0
        for index in text.indices {
            // The first letter is nowhere else in the name.
            matched = text[index] == name[matched] ? matched + 1 : text[index] == name[0] ? 1 : 0
            if matched == name.count { return true }
        }
        return false
    }

    /// The value inside of a marker around all of it; nil if it has none.
    package var withoutExactType: KeyedArchive? {
        guard mayHaveMarkers, let form = try? VariantForm.value(of: self),
            let (_, content) = ExactValue.parts(ofMarker: form)
        else { return nil }
        return try? VariantForm.archive(of: content)
    }

    /// The archive with the exact type of a former value of its key, if it has none and fits.
    ///
    /// - Parameter isReal: Whether a former value that is a real number says that the key has real
    ///   numbers, so that an integer becomes one. Otherwise numbers change their kinds freely.
    package func keepingType(
        of former: KeyedArchive, isReal: () -> Bool = { false }
    ) -> KeyedArchive {
        if former.mayHaveMarkers {
            guard let form = try? VariantForm.value(of: former),
                let (type, _) = ExactValue.parts(ofMarker: form),
                let own = try? VariantForm.value(of: self), !ExactValue.isMarker(own),
                let value = ExactValue(own, as: type)
            else { return self }
            return (try? VariantForm.archive(of: value.markedForm)) ?? self
        }
        guard max(bytes.count, former.bytes.count) <= Self.largestNumber,
            case .double(_)? = try? VariantForm.value(of: former),
            let own = try? VariantForm.value(of: self), own.isInteger, isReal(),
            let value = ExactValue(own, as: .double)
        else { return self }
        return (try? VariantForm.archive(of: value.form())) ?? self
    }

    /// The most bytes of the archive of a number.
    private static var largestNumber: Int { 512 }
}
