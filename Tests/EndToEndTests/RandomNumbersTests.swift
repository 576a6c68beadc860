import Foundation
import TestTiers
import Testing

/// What tests draw at random is the same at each run, so that what was found once is found again.
///
/// `SeededGenerator` of `TestSupport` is the one generator.
@Suite(.startsPrograms) struct RandomNumbersTests {
    /// The files that are about drawing.
    private static let generators: Set = [
        "TestSupport/SeededGenerator.swift", "TestSupport/TestSeed.swift",
        "EndToEndTests/RandomNumbersTests.swift",
    ]

    /// Draws that only have to differ from all others, whatever they are, and where they stand.
    ///
    /// So are all keys and identifiers that the product makes at random; what is drawn of them decides
    /// nothing.
    private static let unique = [
        "DefaultsFoundationTests/GNUstep.swift": "UUID().uuidString",
        "DefaultsStorageTests/Scratch.swift": "defaultsd-\\(UUID().uuidString)",
        "ServiceHarness/TestPlace.swift": "\\(directory.path)/\\(UUID().uuidString)",
        "DefaultsStorageTests/SmallFileSystem.swift": "small-\\(UUID().uuidString)",
        "DocumentationTests/Formats.swift": "UUID().uuidString",
        "EndToEndTests/ClientProcess.swift": "/client-\" + UUID().uuidString",
        "EndToEndTests/QuotaTests.swift": "let number = UInt32.random(in: 1 ... .max)",
        "TestSupport/ApplicationSandbox.swift": "instance = String(UInt32.random(in: 1 ... .max))",
    ]

    private static let folder = Desktop.packageDirectory + "Tests/"

    /// The lines of a file that draw without a seed.
    private static func draws(in text: String) -> [String] {
        let lines = text.split(separator: "\n").map { $0.trimmingPrefix { $0 == " " } }
        return lines.indices.filter { number in
            !lines[number].hasPrefix("//")
                && UnseededDraw.isMade(by: lines[number], before: lines[(number + 1)...])
        }.map { String(lines[$0]) }
    }

    @Test func `No test draws without a seed`() throws {
        let files = try FileManager.default.subpathsOfDirectory(atPath: Self.folder)
            .filter { $0.hasSuffix(".swift") && !Self.generators.contains($0) }
        try #require(files.count > 400)
        var unique = Self.unique
        for file in files {
            let text = try String(contentsOfFile: Self.folder + file, encoding: .utf8)
            for line in Self.draws(in: text) {
                let isUnique = Self.unique[file].map { line.contains($0) } ?? false
                #expect(isUnique, "\(file): \(line)")
                unique[file] = nil
            }
        }
        #expect(unique.isEmpty, "They draw nothing any more.")
    }

    @Test(arguments: [
        "let count = Int.random(in: 0..<4)", "bytes[place] = .random(in: 0...255)",
        "foo(Int.random(in: 0..<bar(using: x)))", "Double.random(\nin: 0..<1)",
        "items.shuffled()", "items.shuffle()", "items.randomElement() ?? 0", "if Bool.random() {",
        "let isOn: Bool = .random()", "var chance = SystemRandomNumberGenerator()",
        "struct Dice: RandomNumberGenerator {", "mutating func next() -> UInt64 {", "x = rand()",
        "random() % 4", "arc4random_uniform(3)", "drand48()", "getrandom(&bytes, 4, 0)",
        "open(\"/dev/urandom\", O_RDONLY)", "let id = UUID()",
        "import random, sys\nrandom.choice(x)", "import random\nrandom.seed()",
        "import random\nrandom.Random()", "os.urandom(4)", "uuid.uuid4()",
    ])
    func `A draw without a seed is found`(text: String) {
        #expect(Self.draws(in: text).count == 1)
    }

    @Test(arguments: [
        "let count = Int.random(in: 0..<4, using: &random)", "items.shuffled(using: &random)",
        "bytes[place] = .random(\nin: 0...255, using: &random)",
        "list.remove(.random(in: 0..<(a.count / 4), using: &random))", "boot: .random()",
        "UniqueID.random()", "GLibValue.random(count: 4, seed: seed)",
        "// No Int.random(in: 0..<4).",
        "import random\nrandom.seed(4)", "import random\ndice = random.Random(21)",
        "var random = SeededGenerator()", "operand()", "UUID(uuidString: text)",
        "dice.random() < 0.5", "random.next()", "let random = 4",
    ])
    func `What has a seed, or is unique, is not found`(text: String) {
        #expect(Self.draws(in: text).isEmpty)
    }
}

/// A draw of random numbers that differ from run to run, in a test's text.
private enum UnseededDraw {
    /// Whether a line makes one; the lines after it may end what it begins.
    static func isMade(by line: Substring, before rest: ArraySlice<Substring>) -> Bool {
        guard words.contains(where: { line.contains($0) }) else { return false }
        if line.contains(system) || line.contains(coin) || line.contains(generator) { return true }
        if line.contains(python) { return !rest.contains { $0.contains(seeded) } }
        let text = ([line] + rest.prefix(8)).joined(separator: "\n")
        return text.matches(of: call).prefix { !text[..<$0.range.lowerBound].contains("\n") }
            .contains { !arguments(in: text[$0.range.upperBound...]).contains("using: &") }
    }

    /// Each draw contains one of them.
    private static let words = ["rand", "Rand", "shuffle", "UUID()", "uuid4", "entropy", "next()"]

    /// What takes its numbers from the system.
    private static var system: some RegexComponent {
        #/SystemRandom|UUID\(\)|uuid4\(|urandom|getrandom|getentropy|arc4random|rand48/#
    }

    /// A boolean at random, and the numbers of C.
    private static var coin: some RegexComponent {
        #/Bool\.random\(\)|: Bool = \.random\(\)|(?:^|[^.\w])s?rand(?:om)?\(\)/#
    }

    /// A second generator.
    private static var generator: some RegexComponent {
        #/: RandomNumberGenerator|func next\(\) -> UInt64/#
    }

    /// Python's module in the text of a program.
    private static var python: some RegexComponent { #/^import (?:\w+, )*random\b/# }

    /// What gives its numbers a seed.
    private static var seeded: some RegexComponent { #/random\.(?:seed|Random)\([^)]/# }

    /// What draws of the system unless it is given a generator.
    private static var call: Regex<Substring> {
        #/\.(?:random\((?=\s*in:)|randomElement\(|shuffled?\()/#
    }

    /// What stands before the parenthesis that closes a call, without calls inside of it.
    private static func arguments(in text: Substring) -> String {
        var depth = 1
        var arguments = ""
        for character in text {
            if character == "(" { depth += 1 }
            if character == ")" { depth -= 1 }
            if depth == 0 { break }
            if depth == 1 { arguments.append(character) }
        }
        return arguments
    }
}
