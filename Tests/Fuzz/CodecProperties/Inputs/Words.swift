/// The words that the codec knows, which no mutation would find by chance.
public enum Words {
    /// Names that stand in archives.
    static let names = [
        "$version", "$archiver", "$top", "$objects", "$null", "$class", "$classname", "$classes",
        "$classhints", "root", "NSKeyedArchiver", "NS.keys", "NS.objects", "NS.object.0",
        "NS.object.1", "NS.key.0", "NS.key.1", "NS.string", "NS.bytes", "NS.data", "NS.time",
        "NS.base", "NS.relative", "NS.uuidbytes", "NSObject", "NSArray", "NSMutableArray",
        "NSDictionary", "NSMutableDictionary", "NSSet", "NSMutableSet", "NSOrderedSet",
        "NSMutableOrderedSet", "NSCountedSet", "NSString", "NSMutableString", "NSData",
        "NSMutableData", "NSDate", "NSNumber", "NSValue", "NSNull", "NSURL", "NSUUID", "$0", "$$a",
        "$value", "$ref", "$classdef", "$data", "$bytes", "$date", "$real",
    ]

    /// Pieces of JSON text.
    static let json = [
        "{", "}", "[", "]", ",", ":", "\"", "true", "false", "null", "0", "-0.0", "1e308", "1e-400",
        "-170141183460469231731687303715884105728", "18446744073709551615", "\\u0000", "\\ud800",
        "\\udc00", "\\\\", "\"\"", "{}", "[]", "\"a\":", "\"nan\"", "\"-inf\"", "\"AQI=\"",
        "\"$class\":", "\"NS.keys\":[", "\"NS.objects\":[", "{\"$data\":\"\"}", "{\"$bytes\":\"\"}",
        "{\"$date\":0.5}", "{\"$date\":\"2024-02-29T12:00:01.5Z\"}", "{\"$real\":\"inf\"}",
        "{\"$top\":{", "\u{E9}", "\u{1F600}",
    ]

    /// Scalars of a binary property list.
    static let scalars: [[UInt8]] = [
        [0x08], [0x09], [0x10, 0xFF], [0x11, 0xFF, 0xFF], [0x12, 0x00, 0x01, 0x86, 0xA0],
        [0x13, 0x80, 0, 0, 0, 0, 0, 0, 0], [0x14] + [UInt8](repeating: 0xFF, count: 16),
        [0x22, 0x7F, 0x80, 0, 0], [0x22, 0x3F, 0x80, 0, 0], [0x23, 0x7F, 0xF8, 0, 0, 0, 0, 0, 1],
        [0x23, 0x3F, 0xF0, 0, 0, 0, 0, 0, 0], [0x33, 0x41, 0xB4, 0, 0, 0, 0, 0, 0], [0x40],
        [0x42, 0x01, 0xFF], [0x4F, 0x10, 0x00], [0x50], [0x5F, 0x11, 0x00, 0x01, 0x61],
        [0x61, 0xD8, 0x00], [0x61, 0x00, 0x61], [0x62, 0xD8, 0x3D, 0xDE, 0x00], [0x80, 0x00],
        [0x80, 0x01], [0x80, 0x02], [0x81, 0x00, 0x01], [0x83, 0x00, 0x00, 0x00, 0x02],
        [0x87, 0, 0, 0, 0, 0, 0, 0, 0x01], [0x87] + [UInt8](repeating: 0xFF, count: 8),
    ]

    /// The words as a dictionary of libFuzzer, one quoted word a line; names also as the strings that
    /// they are in a property list.
    public static var dictionary: String {
        let spelled = names.map { RawObject(name: $0).content }
        let words = ["bplist00"].map { Array($0.utf8) } + spelled + json.map { Array($0.utf8) }
        return (words + scalars).map { quoted($0) + "\n" }.joined()
    }

    private static func quoted(_ word: [UInt8]) -> String {
        let characters = word.map { byte in
            let digits = String(byte, radix: 16)
            return "\\x" + (digits.utf8.count < 2 ? "0" : "") + digits
        }
        return "\"" + characters.joined() + "\""
    }
}
