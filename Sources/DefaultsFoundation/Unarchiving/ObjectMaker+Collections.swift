internal import Foundation
internal import KeyedArchive
internal import PropertyList

/// The collections of an archive.
extension ObjectMaker {
    func array(
        _ elements: Elements, isMutable: Bool, allowing allowed: AllowList
    ) -> Made? {
        guard let members = members(elements, allowing: allowed) else { return nil }
        let objects = members.map(\.object)
        return collection(
            isMutable ? NSMutableArray(array: objects) : NSArray(array: objects), members)
    }

    /// Makes a set of the given kind.
    func set(
        _ elements: Elements, _ kind: FoundationClasses.Known, at index: ObjectIndex,
        allowing allowed: AllowList
    ) -> Made? {
        guard let members = members(elements, allowing: allowed),
            canHash(members, ofClass: "NSSet", at: index)
        else { return nil }
        let objects = members.map(\.object)
        let set: NSObject =
            switch kind {
            case .mutableSet: NSMutableSet(array: objects)
            case .countedSet: NSCountedSet(array: objects)
            case .orderedSet: NSOrderedSet(array: objects)
            case .mutableOrderedSet: NSMutableOrderedSet(array: objects)
            default: NSSet(array: objects)
            }
        return collection(set, members)
    }

    func dictionary(
        _ keys: Elements, _ values: Elements, isMutable: Bool, at index: ObjectIndex,
        allowing allowed: AllowList
    ) -> Made? {
        guard let keys = members(keys, allowing: allowed),
            canHash(keys, ofClass: "NSDictionary", at: index)
        else { return nil }
        // A dictionary copies its keys, which traps for objects that cannot be copied.
        guard keys.allSatisfy({ $0.object is any NSCopying }) else {
            fail(.badObject("NSDictionary", needs: "one of its keys cannot be copied"), at: index)
            return nil
        }
        guard let values = members(values, allowing: allowed), keys.count == values.count else {
            return nil
        }
        let (objects, keyObjects) = (values.map(\.object), keys.map(\.object))
        let dictionary =
            isMutable
            ? NSMutableDictionary(objects: objects, forKeys: keyObjects)
            : NSDictionary(objects: objects, forKeys: keyObjects)
        guard dictionary.count == keys.count else {
            fail(.badObject("NSDictionary", needs: "it has the same key twice"), at: index)
            return nil
        }
        return collection(dictionary, keys + values)
    }

    /// Makes a counted set, which has its elements and counts in numbered fields.
    func countedSet(
        with fields: Fields, at index: ObjectIndex, allowing allowed: AllowList
    ) -> Made? {
        let decoder = FieldDecoder(self, fields: fields, uid: 0, at: index, allowed: allowed)
        let count = decoder.decodeInteger(forKey: "NS.count")
        guard log.first == nil else { return nil }
        // In addition to the class and the number, there are two fields for each element.
        guard (fields.count - 2).quotientAndRemainder(dividingBy: 2) == (count, 0) else {
            fail(.badObject("NSCountedSet", needs: "its counts are wrong"), at: index)
            return nil
        }
        var indices: [ObjectIndex] = []
        var counts: [Int] = []
        for number in 0..<count {
            guard let element = decoder.field("NS.object\(number)") else { break }
            indices.append(element)
            counts.append(decoder.decodeInteger(forKey: "NS.count\(number)"))
        }
        guard indices.count == count, counts.allSatisfy({ $0 > 0 }) else {
            fail(.badObject("NSCountedSet", needs: "its counts are wrong"), at: index)
            return nil
        }
        guard let members = members(.listed(indices), allowing: allowed),
            canHash(members, ofClass: "NSCountedSet", at: index)
        else { return nil }
        let set = NSCountedSet()
        for (member, count) in zip(members, counts) {
            // Elements can only be added one by one.
            guard spend(count) else { return nil }
            for _ in 0..<count { set.add(member.object) }
        }
        return collection(set, members)
    }

    /// Makes the elements; nil if one cannot be made.
    func members(_ elements: Elements, allowing allowed: AllowList) -> [Made]? {
        guard spend(elements.count) else { return nil }
        var members: [Made] = []
        members.reserveCapacity(elements.count)
        for position in 0..<elements.count {
            let index = elements.element(position, in: list)
            let member = at("[\(position)]") { () -> Made? in
                guard case .uid(let uid) = list.value(at: index) else {
                    return value(at: index, allowing: allowed, isBelow: true)
                }
                if archive.isNil(uid) {
                    fail(.nilElement, at: index)
                    return nil
                }
                return make(uid, allowing: allowed, isBelow: true)
            }
            guard let member else { return nil }
            members.append(member)
        }
        return members
    }

    /// Makes the collection of these members.
    ///
    /// When Foundation gives an element to Swift, it copies the collections in it, each shared one
    /// as often as it occurs. So a collection is too large if this copy would be.
    func collection(_ object: NSObject, _ members: [Made]) -> Made? {
        var result = Made(object: object)
        for member in members {
            let (weight, overflow) = result.weight.addingReportingOverflow(member.weight)
            result.weight = weight
            guard !overflow, weight <= options.count else {
                fail(.tooMany(limit: options.count))
                return nil
            }
            for `class` in [type(of: member.object)] + member.contents
            where !result.contents.contains(where: { $0 == `class` }) {
                result.contents.append(`class`)
            }
        }
        return result
    }

    /// Whether a set or a dictionary of these elements or keys can be made in a reasonable time.
    ///
    /// Objects with the same hash are compared with each other completely. Collections with the
    /// same count have the same hash, and strings with the same hash can be constructed.
    private func canHash(
        _ members: [Made], ofClass name: String, at index: ObjectIndex
    ) -> Bool {
        guard members.allSatisfy({ Self.hasHash($0.object) }) else {
            fail(.badObject(name, needs: "one of its elements or keys has no hash"), at: index)
            return false
        }
        var groups: [Int: (count: Int, weight: Int)] = [:]
        for member in members {
            let group = groups[member.object.hash] ?? (0, 0)
            let weight = member.weight + Self.comparisonWeight(of: member.object)
            groups[member.object.hash] = (group.count + 1, max(group.weight, weight))
        }
        for group in groups.values where group.count > 1 {
            let (pairs, overflow) = group.count.multipliedReportingOverflow(by: group.count)
            let (cost, isTooMuch) = pairs.multipliedReportingOverflow(by: group.weight)
            guard !overflow, !isTooMuch, cost <= comparisons else {
                fail(.tooManyComparisons, at: index)
                return false
            }
            comparisons -= cost
        }
        return true
    }

    /// Whether an object has a hash.
    ///
    /// Foundation on Linux traps for objects without one. Arrays and dictionaries have one, but the
    /// Swift values that they become do not.
    private static func hasHash(_ object: NSObject) -> Bool {
        !(object is NSArray || object is NSDictionary || object is NSError)
    }

    /// The additional cost of comparing an object that is not a collection.
    private static func comparisonWeight(of object: NSObject) -> Int {
        switch object {
        case let string as NSString: string.length / 64
        case let data as NSData: data.length / 64
        // Each character can have attributes of its own.
        case let string as NSAttributedString: string.length
        case let set as NSIndexSet: set.packedRanges.count
        default: 0
        }
    }
}
