internal import KeyedArchive
internal import PropertyList
internal import Wording

/// Spells values for people, each as a part of a line.
struct ValueSpelling {
    /// How many bytes of data are shown.
    private static let dataLimit = 12

    let text: VisibleText

    /// A number of things.
    func count(_ count: Int, _ unit: String) -> String {
        counted(count, unit, unit == "entry" ? "entries" : nil)
    }

    /// A name, which is a string of the property list.
    func name(of index: ObjectIndex, in list: PropertyList) -> String {
        guard let range = list.string(at: index) else { return "" }
        return name(range, in: list)
    }

    func className(of fields: Fields, in archive: KeyedArchive) -> String {
        name(archive.className(of: fields), in: archive.list)
    }

    private func name(_ range: PropertyList.StringRange, in list: PropertyList) -> String {
        text.name(beginning(of: range, in: list), codeUnitCount: range.count)
    }

    /// A string, without the end if it is long.
    func quoted(_ string: Text) -> InspectionLine {
        let codeUnits = string.codeUnits
        let beginning = Text(utf16: Array(codeUnits.prefix(VisibleText.limit))).withoutHalf
        return text.quoted(
            codeUnits.count <= VisibleText.limit ? string : beginning,
            codeUnitCount: codeUnits.count)
    }

    private func beginning(of range: PropertyList.StringRange, in list: PropertyList) -> Text {
        let beginning = list.text(of: list.prefix(VisibleText.limit, of: range))
        return range.count > VisibleText.limit ? beginning.withoutHalf : beginning
    }

    /// A value that is not a collection; nil for collections.
    func scalar(
        at index: ObjectIndex, isInline: Bool, in list: PropertyList
    ) -> InspectionLine? {
        var line = InspectionLine()
        switch list.value(at: index) {
        case .boolean(let value):
            line.append(value ? "true" : "false", .number)
        case .integer(let value):
            line.append("\(value)", .number)
        case .real(let value):
            line.append("\(value)", .number)
        case .singleReal(let value):
            line.append("\(value)", .number)
            line.append(" (32 bits)", .note)
        case .date(let seconds):
            line.append(date(seconds))
        case .data(let range):
            line.append(isInline ? "inline data, " : "data, ", .note)
            line.append(data(list.data(of: range)))
        case .string(let range):
            line.append(
                text.quoted(beginning(of: range, in: list), codeUnitCount: range.count))
        case .uid:
            // If references are followed, this was done before.
            line.append("nil", .number)
        case .array, .set, .orderedSet, .dictionary:
            return nil
        }
        return line
    }

    /// The number of bytes, and the first of them.
    func data(_ data: ArraySlice<UInt8>) -> InspectionLine {
        var line = InspectionLine()
        line.append(count(data.count, "byte"), .note)
        guard !data.isEmpty else { return line }
        let digits = data.prefix(Self.dataLimit).map(Self.hexadecimal).joined(separator: " ")
        let end = data.count > Self.dataLimit ? " " + text.ellipsis : ""
        line.append(": ", .structure)
        line.append(digits + end, .data)
        return line
    }

    private func date(_ seconds: Double) -> InspectionLine {
        var line = InspectionLine()
        if let date = CalendarDate(secondsSince2001: seconds) {
            line.append("\(date)", .date)
            line.append(" (\(seconds) s)", .note)
        } else {
            line.append("\(seconds) s", .date)
        }
        return line
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16)
        return digits.utf8.count == 1 ? "0" + digits : digits
    }
}

// MARK: Objects

extension ValueSpelling {
    /// An object that is a single value: a date, a UUID or a URL.
    func object(_ fields: Fields, in archive: KeyedArchive) -> InspectionLine? {
        let value: InspectionLine? =
            switch archive.knownClass(of: fields) {
            case .date: dateObject(fields, in: archive.list)
            case .uuid: uuid(fields, in: archive.list)
            case .url: url(fields, in: archive)
            default: nil
            }
        guard let value else { return nil }
        var line = InspectionLine()
        line.append(className(of: fields, in: archive), .className)
        line.append(" ", .structure)
        line.append(value)
        return line
    }

    private func dateObject(_ fields: Fields, in list: PropertyList) -> InspectionLine? {
        guard fields.count == 2, let time = fields["NS.time", in: list],
            case .number(let seconds) = list.value(at: time).asReal
        else { return nil }
        return date(seconds)
    }

    private func uuid(_ fields: Fields, in list: PropertyList) -> InspectionLine? {
        guard fields.count == 2, let bytes = fields["NS.uuidbytes", in: list],
            case .data(let range) = list.value(at: bytes),
            let uuid = UUIDText.text(list.data(of: range))
        else { return nil }
        var line = InspectionLine()
        line.append(uuid, .data)
        return line
    }

    /// A URL without a base.
    private func url(_ fields: Fields, in archive: KeyedArchive) -> InspectionLine? {
        let list = archive.list
        guard fields.count == 3, let base = fields["NS.base", in: list],
            case .uid(let baseUID) = list.value(at: base), archive.isNil(baseUID),
            let relative = fields["NS.relative", in: list],
            let range = list.string(at: archive.target(of: relative))
        else { return nil }
        return text.quoted(beginning(of: range, in: list), codeUnitCount: range.count)
    }
}

extension Text {
    /// The text without half of a surrogate pair at the end.
    fileprivate var withoutHalf: Text {
        let codeUnits = codeUnits
        guard let last = codeUnits.last, UTF16.isLeadSurrogate(last) else { return self }
        return Text(utf16: codeUnits.dropLast())
    }
}
