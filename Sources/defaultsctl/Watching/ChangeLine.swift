import DefaultsTerms
import KeyedArchive
import PropertyList
import ValuePaths

/// The form in which a change is printed.
enum ChangeForm {
    case text, json, commands

    /// - Parameters:
    ///   - hasISODates: Whether dates in values are spelled in ISO 8601.
    ///   - columns: The width of the terminal; nil in a pipe. Only the form for people is cut to it.
    func line(
        of change: WatchedChange, hasISODates: Bool, columns: Int? = nil
    ) throws -> String {
        switch self {
        case .text: change.text(hasISODates: hasISODates, columns: columns)
        case .json: ShownJSON.text(try change.json(hasISODates: hasISODates))
        case .commands: change.command(hasISODates: hasISODates)
        }
    }
}

// MARK: Text

extension WatchedChange {
    /// The change on one line for people: the new value and, in parentheses, the old value and the
    /// writer.
    ///
    /// If the line is too long, the values are cut, so that the rest can be read.
    fileprivate func text(hasISODates: Bool, columns: Int?) -> String {
        let name = [domain, Self.shown(key: key), path?.description].compactMap(\.self)
            .joined(separator: " ")
        let by = author.map { "; \($0.words)" } ?? ""
        let (now, was) = (new.words(hasISODates: hasISODates), old.words(hasISODates: hasISODates))
        func line(_ now: String, _ was: String) -> String {
            "\(name) \(new.isAbsent ? "removed" : "= \(now)") "
                + "(\(old.isAbsent ? "new" : "was \(was)")\(by))"
        }
        let whole = line(now, was)
        guard let columns, whole.terminalWidth > columns else { return whole }
        let room = columns - line("", "").terminalWidth
        let (shownNow, shownWas) = ValuePair.cut(
            new.isAbsent ? "" : now, old.isAbsent ? "" : was, in: room)
        return line(shownNow, shownWas).cut(toColumns: columns)
    }
}

extension WatchedChange {
    /// The key itself, or as JSON if it could be misread.
    static func shown(key: String) -> String {
        let isPlain = key.unicodeScalars.allSatisfy {
            !$0.properties.isWhitespace && !$0.isUnseen && $0 != "=" && $0 != "\""
        }
        return isPlain ? key : (try? key.quoted).map(ShownJSON.text) ?? key.onOneLine
    }
}

extension WatchedChange.Content {
    fileprivate func words(hasISODates: Bool) -> String {
        switch self {
        case .absent: "nothing"
        case .value(let archive):
            (try? archive.shown().jsonText(hasISODates: hasISODates)).map(ShownJSON.text)
                ?? "a value that cannot be shown"
        case .large(let size): "\(size) bytes"
        case .unknown: "a value that was not kept"
        }
    }
}

// MARK: JSON

extension WatchedChange {
    fileprivate func json(hasISODates: Bool) throws -> String {
        var members = [
            ("generation", "\(generation)"), ("domain", try domain.quoted),
            ("key", try key.quoted),
        ]
        if let path { members.append(("path", try path.description.quoted)) }
        members += try old.members(as: "old", hasISODates: hasISODates)
        members += try new.members(as: "new", hasISODates: hasISODates)
        members += try author?.members ?? []
        return try ShownJSON.object(members)
    }
}

extension WatchedChange.Content {
    /// The value as a member with this name.
    ///
    /// If it was not kept, its size. If there is none, nothing.
    func members(
        as name: String, hasISODates: Bool
    ) throws -> [(String, String)] {
        switch self {
        case .absent: return []
        case .large(let size): return [("\(name)Size", "\(size)")]
        case .unknown: return [("\(name)Unknown", "true")]
        case .value(let archive):
            do {
                return [(name, try archive.jsonText(hasISODates: hasISODates))]
            } catch let error as ArchiveError {
                return [("\(name)Error", try "\(error)".quoted)]
            }
        }
    }
}

// MARK: Commands

extension WatchedChange {
    /// The command that makes the same change; a comment if there is no such command.
    func command(hasISODates: Bool) -> String {
        if LayerName.isReadOnly(domain) {
            return comment("it comes from a file of the administrator or a vendor")
        }
        // A new key has no parts to write, and a removed one has none to remove.
        let hasParts = !whole.old.isAbsent && !whole.new.isAbsent
        let part = hasParts ? path.map { ["--path", $0.description] } ?? [] : []
        switch part.isEmpty ? whole.new : new {
        case .absent: return words("delete", part)
        case .large, .unknown: return comment("its value is unknown")
        case .value(let archive):
            do {
                let (options, value) = try ValueArguments.words(
                    for: archive, hasISODates: hasISODates)
                return words("write", part + options, value)
            } catch {
                return comment("\(error)")
            }
        }
    }

    /// - Parameters:
    ///   - options: Our own options.
    ///   - value: The value in the words of macOS, which come after the key.
    private func words(_ verb: String, _ options: [String], _ value: [String] = []) -> String {
        // After --, a key that looks like an option is not one. So options come before it.
        let words =
            key.hasPrefix("-")
            ? ["defaultsctl", verb] + options + ["--", domain, key] + value
            : ["defaultsctl", verb, domain, key] + options + value
        return words.map(ShellWord.quoted).joined(separator: " ")
    }

    private func comment(_ reason: String) -> String {
        "# \(domain) \(key.onOneLine): no command makes this change: \(reason.onOneLine)"
    }
}
