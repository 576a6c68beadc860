import KeyedArchive
import PropertyList

/// A small archive whose value form is huge: arrays that each hold the next one twice.
enum SharedPairs {
    static func archive(levels: Int) throws -> KeyedArchive {
        var writer = PropertyListWriter()
        let names = ["$class", "NS.objects"].map { writer.add(string: Text($0)) }
        let classUID = writer.add(uid: UInt64(levels + 2))
        var objects = [writer.add(string: "$null")]
        for level in 1...levels {
            let next = writer.add(uid: UInt64(level + 1))
            let pair = writer.add(array: [next, next])
            objects.append(writer.add(keys: names, values: [classUID, pair]))
        }
        objects.append(writer.add(boolean: true))
        let arrayName = writer.add(string: "NSArray")
        objects.append(
            writer.add(
                keys: ["$classname", "$classes"].map { writer.add(string: Text($0)) },
                values: [arrayName, writer.add(array: [arrayName])]))
        let top = writer.add(
            keys: [writer.add(string: "root")], values: [writer.add(uid: 1)])
        let root = writer.add(
            keys: ["$version", "$archiver", "$top", "$objects"].map {
                writer.add(string: Text($0))
            },
            values: [
                writer.add(integer: 100_000), writer.add(string: "NSKeyedArchiver"), top,
                writer.add(array: objects),
            ])
        return try KeyedArchive(validating: writer.finish(root: root))
    }
}
