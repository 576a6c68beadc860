/// An archive put together by hand, of what our encoder does not write.
indirect enum Sketch {
    case scalar([UInt8])
    case collection(type: UInt8, [Sketch])

    static func name(_ name: String) -> Sketch { .scalar(RawObject(name: name).content) }

    static func uid(_ uid: UInt8) -> Sketch { .scalar([0x80, uid]) }

    static func array(_ elements: [Sketch]) -> Sketch { .collection(type: 0xA, elements) }

    static func map(_ entries: KeyValuePairs<String, Sketch>) -> Sketch {
        .collection(
            type: RawObject.dictionary, entries.map { .name($0.key) } + entries.map(\.value))
    }

    /// An object whose class record has this UID.
    static func object(of uid: UInt8, _ entries: KeyValuePairs<String, Sketch>) -> Sketch {
        .collection(
            type: RawObject.dictionary,
            [.name("$class")] + entries.map { .name($0.key) } + [.uid(uid)] + entries.map(\.value))
    }

    static func record(_ name: String) -> Sketch {
        .map(["$classname": .name(name), "$classes": .array([.name(name), .name("NSObject")])])
    }

    /// The archive with these objects after `$null`, the first of them its root.
    static func archive(_ objects: Sketch...) -> RawList {
        let archive: Sketch = .map([
            "$version": .scalar([0x12, 0x00, 0x01, 0x86, 0xA0]),
            "$archiver": .name("NSKeyedArchiver"), "$top": .map(["root": .uid(1)]),
            "$objects": .array([.name("$null")] + objects),
        ])
        var list = RawList(objects: [], root: 0)
        list.root = archive.add(to: &list)
        return list
    }

    private func add(to list: inout RawList) -> Int {
        switch self {
        case .scalar(let content):
            list.objects.append(RawObject(content))
        case .collection(let type, let elements):
            let references = elements.map { $0.add(to: &list) }
            list.objects.append(RawObject(type: type, references))
        }
        return list.objects.count - 1
    }
}
