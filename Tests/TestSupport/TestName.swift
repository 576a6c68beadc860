/// What a test is called, wherever its file is.
struct TestName: CustomStringConvertible {
    /// The name of its function, without labels and the quotes of a sentence.
    let function: String
    private let module: Substring
    private let file: Substring

    /// - Parameters:
    ///   - function: `#function`.
    ///   - file: `#fileID`.
    init(function: String, file: String) {
        self.function = function[..<(function.lastIndex(of: "(") ?? function.endIndex)]
            .filter { $0 != "`" }
        module = file.prefix { $0 != "/" }
        self.file = file.split(separator: "/").last ?? ""
    }

    var description: String { "\(module)/\(file)/\(function)" }

    /// What `swift test --filter` finds the tests of its file by.
    var filter: String { "\(module).*/\(file):" }
}
