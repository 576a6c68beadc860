import KeyedArchive
import PropertyList

/// The inputs that fuzzing begins with, made by our own encoder: each kind of value, and each width
/// and spelling.
public enum Seeds {
    /// The inputs, each with a name of its own.
    public static var all: [(name: String, bytes: [UInt8])] {
        let named =
            texts.map { Array($0.utf8) }.enumerated().map { ("text-\($0).json", $1) }
            + archives.enumerated().map { ("archive-\($0)", $1) }
            + objects.enumerated().map { ("object-\($0)", $1) }
            + spellings.enumerated().map { ("spelling-\($0)", $1) }
        return named.map { (name: $0.0, bytes: $0.1) }
    }

    /// Values in JSON, a kind a line.
    static let texts = [
        "null", "true", "42", "-1", "170141183460469231731687303715884105727", "1.5", "-0.0",
        #"{"$real":"nan"}"#, #""text""#, #""\u00e9\ud83d\ude00 \"q\" \\ \n\u0000""#, #""\ud800""#,
        #""\b\t\n\f\r\u001f\u007f""#, #""$null""#, #"{"$data":"AQIDBA=="}"#,
        #"{"$date":725760000.0}"#, "[]", "{}",
        "[0,-1,127,128,255,65535,65536,4294967296,9223372036854775808,-1e3]", "[300]",
        #"["a","a",1,2.5,true,null,["é"],{"k":"v"}]"#,
        #"{"a":1,"b":{"c":[false]},"d":{"$data":""}}"#,
        #"{"$class":"NSDictionary","NS.keys":[1,2],"NS.objects":["a","b"]}"#,
        #"{"$class":"NSDate","NS.time":60.0}"#,
        #"[{"$class":"NSDate","$date":"1999-12-31T23:59:59.9-01:00"},{"$date":-0.1}]"#,
        #"{"$class":"NSNull"}"#,
        #"{"$class":"NSURL","NS.base":null,"NS.relative":"https://swift.org"}"#,
        #"{"$class":"NSUUID","NS.uuidbytes":{"$bytes":"AAECAwQFBgcICQoLDA0ODw=="}}"#,
        #"{"$class":"NSMutableArray","NS.objects":["a"]}"#,
        #"{"$class":"NSMutableDictionary","NS.keys":["k"],"NS.objects":["v"]}"#,
        #"{"$class":"NSSet","NS.objects":["a","b"]}"#,
        #"{"$class":"NSMutableOrderedSet","NS.objects":[1]}"#,
        #"{"$class":"NSMutableString","NS.string":"text"}"#,
        #"{"$class":"NSMutableData","NS.data":{"$data":"AQ=="}}"#,
        #"{"$class":"Account","active":true,"age":36,"$0":1,"$$x":2,"name":"ada","ratio":0.5}"#,
        #"{"$class":"Holder","bytes":{"$bytes":"AQ=="},"number":{"$class":"NSNumber","$value":4}}"#,
        #"{"$class":"Book","title":"Dune","author":"Herbert","categories":["a","b"],"pages":604}"#,
        #"{"$top":{"root":"s","count":5,"Data":[1]}}"#,
    ]

    private static var archives: [[UInt8]] {
        texts.compactMap { try? KeyedArchive(json: $0).bytes }
    }

    /// What our encoder does not write: other widths, scalars and collections.
    private static var spellings: [[UInt8]] {
        let widths = (1...8).map { width in
            var list = graphs[0]
            (list.offsetWidth, list.referenceWidth) = (width, 9 - width)
            return list
        }
        let scalars = Words.scalars.map { scalar in
            Sketch.archive(
                .object(of: 2, ["a": .scalar(scalar), "b": .uid(3)]), .record("Holder"),
                .scalar(scalar))
        }
        return (graphs + widths + scalars).map(\.bytes)
    }

    /// Circles, sharing, what stands inline, and several spellings of the same.
    private static var graphs: [RawList] {
        [
            Sketch.archive(
                .object(of: 2, ["me": .uid(1), "list": .uid(3)]), .record("Node"),
                .object(of: 4, ["NS.objects": .array([.uid(1), .uid(5), .uid(5)])]),
                .record("NSArray"), .object(of: 6, ["x": .uid(0)]), .record("Leaf")),
            Sketch.archive(
                .object(of: 2, ["NS.object.0": .uid(3), "NS.object.1": .uid(4)]),
                .record("NSArray"), .name("a"),
                .object(of: 5, ["NS.bytes": .scalar([0x41, 0x61])]), .record("NSString")),
            Sketch.archive(
                .object(of: 2, ["NS.key.0": .uid(3), "NS.object.0": .uid(4)]),
                .record("NSDictionary"), .name("k"), .collection(type: 0xC, [.name("s")])),
            Sketch.archive(
                .object(
                    of: 2,
                    [
                        "list": .array([.name("a"), .uid(3)]), "map": .map(["b": .uid(0)]),
                        "set": .collection(type: 0xB, [.name("s")]),
                    ]),
                .record("Holder"), .object(of: 4, ["NS.data": .scalar([0x41, 1])]),
                .record("NSData")),
            Sketch.archive(.object(of: 2, ["$0": .uid(2)]), .record("Kind")),
            // A key and a value that are called like objects, and are none.
            Sketch.archive(
                .object(
                    of: 2,
                    [
                        "NS.keys": .array([.map(["$class": .name("A"), "NS.string": .name("a")])]),
                        "NS.objects": .array([.map(["$class": .uid(1)])]),
                    ]),
                .record("NSDictionary")),
            Sketch.archive(
                .object(of: 2, ["a": .name("a")]),
                .map([
                    "$classname": .name("A"), "$classes": .array([.name("A"), .name("NSObject")]),
                    "$classhints": .array([.name("B")]),
                ])),
        ]
    }
}
