import Glibc

/// The names in dates, in English and in the language of the user, which `date` prints.
enum DateNames {
    private static let englishMonths = [
        "january", "february", "march", "april", "may", "june", "july", "august", "september",
        "october", "november", "december",
    ]
    private static let englishWeekdays = [
        "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
    ]

    /// The zones of RFC 2822 with their hours from UTC.
    static let offsets = [
        "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7,
    ]

    /// A name in lower case without its points: `déc.`, `p.m.`.
    static func plain(_ word: Substring) -> String { String(word.filter { $0 != "." }) }

    /// The months that a name may mean, from 1 on.
    ///
    /// - Parameter name: As ``plain(_:)`` returns it.
    static func months(named name: String) -> [Int] {
        places(of: name, among: englishMonths, localMonths).map { $0 + 1 }
    }

    /// The days of the week that a name may mean, from 0 for Sunday on.
    ///
    /// - Parameter name: As ``plain(_:)`` returns it.
    static func weekdays(named name: String) -> [Int] {
        places(of: name, among: englishWeekdays, localWeekdays)
    }

    /// - Parameters:
    ///   - english: Names whose first three letters are enough.
    ///   - local: Names, and then their abbreviations.
    private static func places(
        of name: String, among english: [String], _ local: [String]
    ) -> [Int] {
        let prefixed = english.indices.filter { name.count >= 3 && english[$0].hasPrefix(name) }
        let equal = local.indices.filter { local[$0] == name }.map { $0 % english.count }
        return prefixed + equal.filter { !prefixed.contains($0) }
    }

    private static let localMonths = names(
        [MON_1, MON_2, MON_3, MON_4, MON_5, MON_6, MON_7, MON_8, MON_9, MON_10, MON_11, MON_12]
            + [ABMON_1, ABMON_2, ABMON_3, ABMON_4, ABMON_5, ABMON_6, ABMON_7, ABMON_8]
            + [ABMON_9, ABMON_10, ABMON_11, ABMON_12])

    private static let localWeekdays = names(
        [DAY_1, DAY_2, DAY_3, DAY_4, DAY_5, DAY_6, DAY_7]
            + [ABDAY_1, ABDAY_2, ABDAY_3, ABDAY_4, ABDAY_5, ABDAY_6, ABDAY_7])

    /// The names in the language of the environment; none if it is not installed.
    private static func names(_ items: [some BinaryInteger]) -> [String] {
        guard let locale = newlocale(1 << LC_TIME, "", nil) else { return [] }
        defer { freelocale(locale) }
        return items.map { item in
            let name = nl_langinfo_l(nl_item(item), locale).map { String(cString: $0) } ?? ""
            return plain(name.lowercased()[...])
        }
    }
}
