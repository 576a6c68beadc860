import ArchiveTestSupport
import DefaultsFoundation
import Foundation
import KeyedArchive
import TestSupport
import TestTiers
import Testing

@Suite("The order of sets of objects", .startsPrograms)
struct OrderTests {
    @Test("is found for a thousand objects whose sets contain each other's parents")
    func parents() throws {
        let branches = (0..<1000).map { _ in Branch() }
        for (number, branch) in branches.enumerated().dropFirst() {
            branch.parent = branches[(number - 1) / 2]
            branch.parent?.children.add(branch)
        }
        branches[700].number = 1
        let archive = try KeyedArchive(archiving: branches[0])
        #expect(try archive.json().text.contains(#""number":1"#))
        for branch in branches { branch.children.removeAllObjects() }
    }

    @Test("is the same, however and in whatever order the objects were made")
    func insertion() throws {
        var random = SeededGenerator()
        func archive() throws -> [UInt8] {
            let branches = (0..<60).map { _ in Branch() }
            defer { for branch in branches { branch.children.removeAllObjects() } }
            for number in 1..<60 { branches[number].parent = branches[(number - 1) / 2] }
            for branch in branches.dropFirst().shuffled(using: &random) {
                branch.parent?.children.add(branch)
            }
            branches[57].number = 1
            let all = NSMutableSet(array: branches.shuffled(using: &random))
            let keyed = NSMutableDictionary()
            for branch in branches.shuffled(using: &random) { keyed[Key(branch)] = "value" }
            return try KeyedArchive(archiving: [all, keyed] as [Any]).bytes
        }
        let bytes = try archive()
        for _ in 0..<10 { #expect(try archive() == bytes) }
    }

    @Test("is the same in each process")
    func processes() throws {
        let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appending(path: "SetArchiver").path()
        let outputs = try (0..<4).map { _ in try ProgramResult.run([program]).requireOutput() }
        #expect(outputs[0].split(separator: "\n").count == 6)
        #expect(Set(outputs).count == 1)
    }
}

/// An object that has others in a set, and refers to the one that has it.
private final class Branch: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }

    var number = 0
    let children = NSMutableSet()
    weak var parent: Branch?

    override init() {}

    init?(coder: NSCoder) { nil }

    func encode(with coder: NSCoder) {
        coder.encode(number, forKey: "number")
        coder.encode(children, forKey: "children")
        coder.encode(parent, forKey: "parent")
    }
}

/// A key that is a branch, and can be copied.
private final class Key: NSObject, NSSecureCoding, NSCopying {
    static var supportsSecureCoding: Bool { true }

    let branch: Branch

    init(_ branch: Branch) { self.branch = branch }

    init?(coder: NSCoder) { nil }

    func encode(with coder: NSCoder) { coder.encode(branch, forKey: "branch") }

    func copy(with zone: NSZone? = nil) -> Any { self }
}
