internal import Foundation
internal import KeyedArchive
internal import PropertyList

/// Attributed strings from an archive.
extension ObjectMaker {
    /// What a run costs of the budget, in addition to its attributes.
    private static let runCost = 16

    /// The attributes of a run, in the form that Foundation takes.
    private typealias Attributes = [NSAttributedString.Key: Any]

    func attributedString(
        isMutable: Bool, with fields: FieldDecoder, at index: ObjectIndex,
        allowing allowed: AllowList
    ) -> Made? {
        let text = fields.decodeObject(of: NSString.self, forKey: "NSString") ?? ""
        guard let made = madeAttributes(with: fields, at: index, allowing: allowed),
            let attributes = attributes(made, at: index),
            let runs = runs(over: text.length, with: fields, attributes.count, at: index)
        else { return nil }
        let string = NSMutableAttributedString(string: text as String)
        var location = 0
        for run in runs {
            // Foundation copies the attributes for each run.
            guard spend(Self.runCost + made[run.slot].weight) else { return nil }
            let range = NSRange(location: location, length: run.length)
            string.setAttributes(attributes[run.slot], range: range)
            location += run.length
        }
        return collection(
            isMutable ? string : NSAttributedString(attributedString: string), made)
    }

    /// Makes the dictionaries of attributes: one, or those of an array, or none.
    private func madeAttributes(
        with fields: FieldDecoder, at index: ObjectIndex, allowing allowed: AllowList
    ) -> [Made]? {
        guard let field = fields.field("NSAttributes"), log.first == nil else {
            return log.first == nil ? [] : nil
        }
        return at("NSAttributes") {
            guard case .uid(let uid) = list.value(at: field) else {
                fail(.wrongType(kind(of: field), needs: "an object"), at: field)
                return nil
            }
            guard !archive.isNil(uid) else { return [] }
            let allowed = AllowList(
                [NSDictionary.self, NSArray.self, NSURL.self] + allowed.classes)
            if let fields = Fields(of: list, at: archive.object(uid)),
                fields["$class", in: list] != nil,
                case .array(let elements) = archive.form(of: fields)
            {
                return members(elements, allowing: allowed)
            }
            return make(uid, allowing: allowed, isBelow: false).map { [$0] }
        }
    }

    /// The attributes in dictionaries whose keys are all strings.
    private func attributes(_ made: [Made], at index: ObjectIndex) -> [Attributes]? {
        var all: [Attributes] = []
        for dictionary in made.map(\.object) {
            var attributes = Attributes()
            for (key, value) in (dictionary as? NSDictionary)?.entries ?? [] {
                guard let name = key as? NSString else { break }
                attributes[NSAttributedString.Key(name as String)] = value
            }
            guard attributes.count == (dictionary as? NSDictionary)?.count else {
                fail(.badAttributes("its attributes are not dictionaries with names"), at: index)
                return nil
            }
            all.append(attributes)
        }
        return all
    }

    /// The runs, which together have the length of the text.
    private func runs(
        over length: Int, with fields: FieldDecoder, _ slotCount: Int, at index: ObjectIndex
    ) -> [(length: Int, slot: Int)]? {
        guard let info = fields.optionalObject(of: NSData.self, forKey: "NSAttributeInfo") else {
            guard slotCount <= 1 else {
                fail(.badAttributes("its runs are missing"), at: index)
                return nil
            }
            return slotCount == 0 || length == 0 ? [] : [(length, 0)]
        }
        let integers = PackedIntegers.unpack(info as Data) ?? []
        var runs: [(length: Int, slot: Int)] = []
        var rest = length
        for position in stride(from: 0, to: integers.count - 1, by: 2) {
            let run = (length: integers[position], slot: integers[position + 1])
            guard run.length > 0, run.length <= rest, run.slot < slotCount else { break }
            runs.append(run)
            rest -= run.length
        }
        guard rest == 0, runs.count * 2 == integers.count else {
            fail(.badAttributes("its runs do not match its text or its attributes"), at: index)
            return nil
        }
        return runs
    }
}

extension ObjectCodingError {
    fileprivate static func badAttributes(_ need: StaticString) -> ObjectCodingError {
        .badObject("NSAttributedString", needs: need)
    }
}
