internal import CLinux
internal import Foundation
internal import KeyedArchive
internal import PropertyList

/// Decodes the objects of an archive, each when it is first needed.
///
/// 1. An object is made once: one UID is one object.
/// 2. An object is made only if the caller allows its class in that place. No code of any other
///    class runs.
/// 3. Every object counts against a budget, and the depth is limited. So an archive with very many
///    shared objects, or a long chain of objects, ends in an error.
/// 4. After the first error, nothing is decoded.
final class ObjectMaker {
    /// An object that was made.
    struct Made {
        let object: NSObject
        /// How many objects a collection has if each shared object is counted every time.
        var weight = 1
        /// The classes of the objects in a collection.
        ///
        /// They must be allowed when it is decoded again.
        var contents: [AnyClass] = []
    }

    /// The cost of looking up a hint.
    private static let hintCost = 50

    /// The most classes that are looked up although the caller has not listed them.
    private static let searchLimit = 4096

    private static let shallow = 16

    let archive: KeyedArchive
    let list: PropertyList
    let options: ObjectCodingOptions
    let log = FailureLog()
    private var lookup: ClassLookup
    var names = FieldNames()
    private var made: [UInt64: Made] = [:]
    /// The objects that are being made, with those that others can refer to already.
    private var open: [UInt64: NSObject?] = [:]
    /// The path from the root to the current object.
    private var path: [String] = []
    private var depth = 0
    private lazy var stack = StackReserve()
    private var count: Int
    private var size: Int
    private var searches = ObjectMaker.searchLimit
    var comparisons = 1 << 24

    init(of archive: KeyedArchive, options: ObjectCodingOptions) {
        self.archive = archive
        list = archive.list
        self.options = options
        lookup = ClassLookup(names: options.classNames)
        count = options.count
        size = options.size
    }

    /// Makes the object under a key of `$top`; nil for nil.
    func root(_ key: String, allowing allowed: AllowList) throws(ObjectCodingError) -> NSObject? {
        let top = Fields(keys: archive.topKeys, values: archive.topValues)
        var object: NSObject?
        at(key) {
            guard spend(top.count) else { return }
            let position = (0..<top.count).first { top.name(at: $0, in: list) == Text(key) }
            guard let position else { return fail(.missingTop) }
            object = self.object(at: top.value(at: position, in: list), allowing: allowed)
        }
        if let error = log.first { throw error }
        return object
    }

    /// Notes an error at the current path.
    func fail(_ error: ObjectCodingError, at index: ObjectIndex? = nil) {
        log.note(error.located(path: path, at: index.map(list.byteOffset(of:))))
    }

    /// Runs a closure one step further from the root.
    func at<Result>(_ step: String, _ body: () -> Result) -> Result {
        path.append(step)
        defer { path.removeLast() }
        return body()
    }

    /// Takes fields and elements from the budget; false if there are too many.
    func spend(_ more: Int) -> Bool {
        guard more <= count else {
            fail(.tooMany(limit: options.count))
            return false
        }
        count -= more
        return true
    }

    /// Takes the bytes of a string or of data from the budget; false if there are too many.
    func spend(bytes: Int) -> Bool {
        guard bytes <= size else {
            fail(.tooLarge(limit: options.size))
            return false
        }
        size -= bytes
        return true
    }

    /// Makes an object available to others before it is complete.
    func announce(_ object: NSObject, as uid: UInt64) {
        if open[uid] != nil { open[uid] = .some(object) }
    }
}

// MARK: Objects

extension ObjectMaker {
    /// Decodes the object of a field; nil for nil.
    ///
    /// An inline value is not an object, as with every other unarchiver.
    func object(
        at index: ObjectIndex, allowing allowed: AllowList, isBelow: Bool = false
    ) -> NSObject? {
        guard case .uid(let uid) = list.value(at: index) else {
            fail(.wrongType(kind(of: index), needs: "an object"), at: index)
            return nil
        }
        guard !archive.isNil(uid) else { return nil }
        return make(uid, allowing: allowed, isBelow: isBelow)?.object
    }

    /// Makes an object.
    ///
    /// - Parameter isBelow: Whether the object is an element. Strings, numbers and other plain
    ///   values need not be allowed there.
    func make(_ uid: UInt64, allowing allowed: AllowList, isBelow: Bool) -> Made? {
        guard log.first == nil else { return nil }
        let index = archive.object(uid)
        let known = made[uid] ?? openObject(uid)
        guard let result = known ?? makeNew(uid, at: index, allowing: allowed, isBelow: isBelow),
            log.first == nil,
            check(type(of: result.object), allowed, isBelow: isBelow, at: index)
        else { return nil }
        if known != nil {
            let areAllowed = result.contents.allSatisfy {
                check($0, allowed, isBelow: true, at: index)
            }
            guard areAllowed else { return nil }
        } else {
            made[uid] = result
        }
        return result
    }

    /// Whether a class is allowed; notes the error if it is not.
    func check(
        _ class: AnyClass, _ allowed: AllowList, isBelow: Bool, at index: ObjectIndex
    ) -> Bool {
        guard isBelow ? allowed.admitsBelow(`class`) : allowed.admits(`class`) else {
            fail(.classNotAllowed(ClassNames.qualifiedName(of: `class`)), at: index)
            return false
        }
        return true
    }

    private func openObject(_ uid: UInt64) -> Made? {
        guard let object = open[uid] else { return nil }
        guard let object else {
            fail(.cycle, at: archive.object(uid))
            return nil
        }
        return Made(object: object)
    }

    private func makeNew(
        _ uid: UInt64, at index: ObjectIndex, allowing allowed: AllowList, isBelow: Bool
    ) -> Made? {
        guard log.first == nil else { return nil }
        guard depth < options.depth else {
            fail(.tooDeep(limit: options.depth), at: index)
            return nil
        }
        // Objects near the root cannot exhaust a stack, and checking the stack takes time.
        guard depth < Self.shallow || !stack.isUsedUp else {
            fail(.noStackLeft, at: index)
            return nil
        }
        depth += 1
        open[uid] = .some(nil)
        defer {
            depth -= 1
            open[uid] = nil
        }
        guard case .dictionary(let keys, let values) = list.value(at: index) else {
            return value(at: index, allowing: allowed, isBelow: isBelow)
        }
        let fields = Fields(keys: keys, values: values)
        guard fields["$class", in: list] != nil else {
            fail(.classRecordAsObject, at: index)
            return nil
        }
        return instance(with: fields, uid, at: index, allowing: allowed, isBelow: isBelow)
    }

    /// Makes an object of a class.
    private func instance(
        with fields: Fields, _ uid: UInt64, at index: ObjectIndex, allowing allowed: AllowList,
        isBelow: Bool
    ) -> Made? {
        guard spend(fields.count),
            let found = findClass(of: fields, at: index, allowing: allowed, isBelow: isBelow)
        else { return nil }
        let name = ClassNames.qualifiedName(of: found)
        switch FoundationClasses.way(of: found) {
        case .known(let kind):
            return known(kind, name, with: fields, at: index, allowing: allowed)
        case .own:
            return own(found, name, with: fields, uid, at: index, allowing: allowed)
        case .refused(let ancestor):
            let ancestor = ClassNames.qualifiedName(of: ancestor)
            fail(.unsupportedClass(name, ancestor: ancestor), at: index)
            return nil
        }
    }

    /// The first allowed class among the class of an object and its hints.
    private func findClass(
        of fields: Fields, at index: ObjectIndex, allowing allowed: AllowList, isBelow: Bool
    ) -> AnyClass? {
        func isAllowed(_ class: AnyClass) -> Bool {
            isBelow ? allowed.admitsBelow(`class`) : allowed.admits(`class`)
        }
        let name = archive.shortClassName(of: fields)
        let named: AnyClass? = lookUp(name, near: allowed)
        if let named, isAllowed(named) { return substitute(for: named) }
        for hint in archive.classHints(of: fields) {
            guard spend(Self.hintCost) else { return nil }
            if let hinted = lookUp(hint, near: allowed), isAllowed(hinted) {
                return substitute(for: hinted)
            }
        }
        fail(named == nil ? .classNotFound(name) : .classNotAllowed(name), at: index)
        return nil
    }

    /// The class with this name, if the program has it and the budget allows the lookup.
    private func lookUp(_ name: String, near allowed: AllowList) -> AnyClass? {
        lookup.find(name, near: allowed) {
            guard searches > 0 else {
                fail(.tooManyClasses(limit: Self.searchLimit))
                return false
            }
            searches -= 1
            return true
        }
    }

    /// The class that a class substitutes for itself.
    private func substitute(for class: AnyClass) -> AnyClass {
        (`class` as? NSObject.Type)?.classForKeyedUnarchiver() ?? `class`
    }

    /// Calls the `init(coder:)` of a class.
    private func own(
        _ class: AnyClass, _ name: String, with fields: Fields, _ uid: UInt64,
        at index: ObjectIndex, allowing allowed: AllowList
    ) -> Made? {
        guard let coding = `class` as? any (NSObject & NSSecureCoding).Type,
            coding.supportsSecureCoding
        else {
            fail(.notSecure(name), at: index)
            return nil
        }
        let decoder = FieldDecoder(self, fields: fields, uid: uid, at: index, allowed: allowed)
        let object = coding.init(coder: decoder)
        guard log.first == nil else { return nil }
        guard let object else {
            fail(.initializerFailed(name, missing: decoder.missing), at: index)
            return nil
        }
        return Made(object: object)
    }
}

/// The part of a thread's stack that nested objects must leave free.
private struct StackReserve {
    /// The most stack that one object may need between two checks.
    private static let reserve: UInt = 256 << 10

    private let stack: Range<UInt>

    /// Finds the stack of the current thread.
    ///
    /// If the system does not know it, there is no limit.
    init() {
        var (start, size) = (UInt(0), 0)
        guard clinux_stack_of_this_thread(&start, &size) == 0 else {
            stack = 0..<0
            return
        }
        let (end, overflow) = start.addingReportingOverflow(UInt(bitPattern: size))
        stack = overflow ? 0..<0 : start..<end
    }

    /// Whether the free part is smaller than the reserve; false on the stack of another thread.
    var isUsedUp: Bool {
        // The addresses are only compared. Nothing is read through them.
        var here: UInt8 = 0
        let address = withUnsafeMutablePointer(to: &here) { UInt(bitPattern: $0) }
        guard stack.contains(address) else { return false }
        return address - stack.lowerBound < min(Self.reserve, UInt(stack.count) / 2)
    }
}
