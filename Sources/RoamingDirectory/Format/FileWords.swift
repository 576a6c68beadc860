import DefaultsRoaming

/// The words with which the lines of a file begin.
enum FileWord: String {
    case replica, sequence, stamp, content, written, name, batch, joined, forgotten
    case key, covers, set, removed, end
}

/// How names and numbers are written in a file.
enum FileText {
    /// The first line.
    static let firstLine = "defaultsd-roam 1"
    /// How the first line of any version begins.
    static let anyFirstLine = "defaultsd-roam "
    /// The word for an unknown time.
    static let unknown = "-"

    static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x7F }

    /// Appends a name, without spaces and control characters: each of their bytes becomes `%` with two
    /// digits.
    static func write(_ name: String, to bytes: inout [UInt8]) {
        for byte in name.utf8 {
            if isControl(byte) || byte == UInt8(ascii: " ") || byte == UInt8(ascii: "%") {
                bytes.append(UInt8(ascii: "%"))
                bytes += hexadecimal([byte]).utf8
            } else {
                bytes.append(byte)
            }
        }
    }

    /// The name that was written; nil if there is none.
    static func name(_ word: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = word.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard let code = self.bytes(Substring(rest.prefix(2)), count: 1) else { return nil }
                bytes += code
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.hexadecimal
    }

    /// The given number of bytes, in hexadecimal digits; nil for anything else.
    static func bytes(_ word: Substring, count: Int) -> [UInt8]? {
        guard word.utf8.count == 2 * count else { return nil }
        var bytes: [UInt8] = []
        var rest = word
        while !rest.isEmpty {
            guard rest.first?.isHexDigit == true, let byte = UInt8(rest.prefix(2), radix: 16) else {
                return nil
            }
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return bytes
    }

    /// A number from 0 to ``Dot/largestCounter``, in decimal digits; nil for anything else.
    static func number(_ word: Substring) -> Int64? {
        guard word.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Int64(word), number <= Dot.largestCounter
        else { return nil }
        return number
    }

    static func word(for time: EditTime) -> String {
        switch time {
        case .unknown: unknown
        case .known(let time): String(time)
        }
    }

    /// A time no further from 1970 than ``Dot/largestCounter``; nil for anything else.
    static func time(_ word: Substring) -> EditTime? {
        if word == unknown { return .unknown }
        guard let time = Int64(word), time.magnitude <= Dot.largestCounter else { return nil }
        return .known(time)
    }
}
