import Foundation
import KeyedArchive
import PropertyList

/// What is measured: each task once, by its name.
struct Tasks {
    let all: KeyValuePairs<String, () throws -> Void>
    /// The archives that are decoded, by name: Foundation's, which Python reads too.
    let archives: KeyValuePairs<String, Data>
    private let books: [Book]

    init() throws {
        let options = Options()
        let optionsObject = OptionsObject(options)
        let library = Book.library
        let bookObjects = library.map(BookObject.init) as NSArray
        let optionsData = try Foundations.encode(optionsObject)
        let booksData = try Foundations.encode(bookObjects)
        let optionsBytes = Array(optionsData)
        let booksBytes = Array(booksData)
        let encoder = KeyedArchiveEncoder()
        let ownOptions = try encoder.encode(options).bytes
        let ownBooks = try encoder.encode(library).bytes
        // The classes are not called what the structures are.
        var decoder = KeyedArchiveDecoder()
        decoder.setClass(Options.self, forClassName: NSStringFromClass(OptionsObject.self))
        decoder.setClass(Book.self, forClassName: NSStringFromClass(BookObject.self))
        books = try decoder.decode([Book].self, from: booksBytes)

        archives = ["options": optionsData, "books": booksData]
        all = [
            "options-encode-foundation": { keep(try Foundations.encode(optionsObject)) },
            "options-encode": { keep(try encoder.encode(options)) },
            "options-decode-foundation": { keep(try Foundations.decode(optionsData)) },
            "options-decode": { keep(try decoder.decode(Options.self, from: optionsBytes)) },
            "options-decode-own": { keep(try decoder.decode(Options.self, from: ownOptions)) },
            "options-validate": { keep(try KeyedArchive(validating: optionsBytes)) },
            "options-parse": { keep(try PropertyList(optionsBytes)) },
            "options-read": { keep(try Self.valueCount(of: optionsBytes)) },
            "books-encode-foundation": { keep(try Foundations.encode(bookObjects)) },
            "books-encode": { keep(try encoder.encode(library)) },
            "books-decode-foundation": { keep(try Foundations.decode(booksData)) },
            "books-decode": { keep(try decoder.decode([Book].self, from: booksBytes)) },
            "books-decode-own": { keep(try decoder.decode([Book].self, from: ownBooks)) },
            "books-validate": { keep(try KeyedArchive(validating: booksBytes)) },
            "books-parse": { keep(try PropertyList(booksBytes)) },
            "books-read": { keep(try Self.valueCount(of: booksBytes)) },
        ]
    }

    /// Ends the program where one of the codecs does not give what went in.
    func check() throws {
        let objects = try Foundations.decode(archives[1].value) as? [BookObject]
        guard books.map(\.title) == Book.library.map(\.title),
            objects?.map(\.title) == books.map(\.title)
        else { throw Failure(description: "The books are not those that were written.") }
    }

    /// Parses bytes, and looks at every value: what Python's parser has done when it is through.
    private static func valueCount(of bytes: [UInt8]) throws -> Int {
        let list = try PropertyList(bytes)
        var count = 0
        for index in list.indices {
            switch list.value(at: index) {
            case .string(let range): count += list.text(of: range).byteCount
            case .data(let range): count += list.data(of: range).count
            case .array(let elements): count += list.elements(of: elements).count
            case .dictionary(let keys, let values):
                count += list.elements(of: keys).count + list.elements(of: values).count
            default: count += 1
            }
        }
        return count
    }
}

struct Failure: Error, CustomStringConvertible {
    let description: String
}

/// Takes a result, so that it is not optimized away.
@inline(never)
func keep<Value>(_ value: Value) {}
