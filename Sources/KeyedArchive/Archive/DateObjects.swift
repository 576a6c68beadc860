import PropertyList

extension KeyedArchive {
    /// The value with NSDate objects, as programs archive dates, in place of dates of the property list.
    ///
    /// The field of an object stays what it is. So does an archive of which the value form does not say all.
    package func withDateObjects() -> KeyedArchive {
        let hasDates = list.indices.contains { index in
            if case .date = list.value(at: index) { true } else { false }
        }
        guard hasDates, rebuilt(datesAreObjects: false)?.isSame(as: self) == true else {
            return self
        }
        return rebuilt(datesAreObjects: true) ?? self
    }

    private func rebuilt(datesAreObjects: Bool) -> KeyedArchive? {
        var builder = ValueFormBuilder(datesAreObjects: datesAreObjects)
        guard (try? render(into: &builder)) != nil else { return nil }
        return builder.finish()
    }
}
