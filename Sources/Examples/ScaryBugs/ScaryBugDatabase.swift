import DefaultsClient
import DefaultsFoundation
import ExampleSupport
import Foundation
import KeyedArchive

/// Each document is a value of its own, and so is each of its pictures. A list of the documents loads no
/// picture, and a change of the rating sends none.
extension AnyDefaultsKey {
    static func data(of name: String) -> DefaultsKey<ScaryBugData?> {
        DefaultsKey(name, coding: .optional(.scaryBug), default: { nil })
    }

    static func thumbImage(of name: String) -> DefaultsKey<Data?> {
        DefaultsKey("\(name) thumbImage")
    }

    static func fullImage(of name: String) -> DefaultsKey<Data?> {
        DefaultsKey("\(name) fullImage")
    }

    /// The number of the newest bug.
    ///
    /// Later bugs have greater numbers.
    static let lastNumber = DefaultsKey("LastNumber", default: 0)
}

extension ValueCoding where Value == ScaryBugData {
    /// Archives of a bug, also those of files that the first version of the program wrote: it called
    /// the object `Data`, and not `root`.
    static var scaryBug: ValueCoding {
        let ours = ValueCoding.object(ofClass: ScaryBugData.self)
        return ValueCoding(
            encode: ours.encode,
            decode: { archive in
                do {
                    return try ours.decode(archive)
                } catch let error as ObjectCodingError where error.code == .missingField {
                    let old = try archive.decodeObject(
                        of: ScaryBugData.self, forKey: "Data")
                    guard let old else { throw error }
                    return old
                }
            })
    }
}

/// The two pictures of a bug.
struct Pictures {
    let thumbImage: Data
    let fullImage: Data
}

/// The bugs of a user: "Bug 1", "Bug 2" and so on.
@MainActor struct ScaryBugDatabase {
    let defaults: Defaults

    /// The names in the order of their numbers.
    ///
    /// No picture is loaded for this.
    var names: [String] { numbers.map { "Bug \($0)" } }

    private var numbers: [Int] { defaults.keys(in: .domain).compactMap(number).sorted() }

    private func number(of name: String) -> Int? {
        guard let number = Int(name.dropFirst("Bug ".count)), number > 0 else { return nil }
        return name == "Bug \(number)" ? number : nil
    }

    /// Finds a bug by its name, also one that cannot be read.
    func find(_ name: String) throws {
        guard number(of: name) != nil, defaults.isSet(.data(of: name)) else {
            throw Refusal("There is no bug \"\(name)\". `ScaryBugs` lists the bugs.")
        }
    }

    /// A bug without its pictures.
    ///
    /// - Throws: Why it cannot be read.
    func data(of name: String) throws -> ScaryBugData {
        try find(name)
        do {
            return try found(defaults.value(of: .data(of: name)), name)
        } catch {
            throw Refusal("\(name) cannot be read. \(sentence(of: error))")
        }
    }

    /// Both pictures of a bug, which may be some megabytes; nil if it has none.
    func pictures(of name: String) throws -> Pictures? {
        let thumbImage = try defaults.value(of: .thumbImage(of: name))
        let fullImage = try defaults.value(of: .fullImage(of: name))
        switch (thumbImage, fullImage) {
        case (nil, nil): return nil
        case (let thumbImage?, let fullImage?):
            return Pictures(thumbImage: thumbImage, fullImage: fullImage)
        default:
            throw Refusal("It has only one of its two pictures. `ScaryBugs pictures` sets both.")
        }
    }

    private func found(_ data: ScaryBugData?, _ name: String) throws -> ScaryBugData {
        guard let data else { throw Refusal("There is no bug \"\(name)\" any more.") }
        return data
    }

    /// Adds a bug and its pictures: all of it or nothing.
    ///
    /// - Returns: The name of the bug.
    func add(_ data: ScaryBugData, _ pictures: Pictures?) async throws -> String {
        let number = try await defaults.update(.lastNumber) { last in
            // Bugs that other programs have stored are not overwritten.
            let newest = max(last, numbers.last ?? 0)
            guard newest < Int.max else {
                throw Refusal("The bug was not added: there is no number after \(newest).")
            }
            last = newest + 1
        }
        let name = "Bug \(number)"
        try await defaults.transaction {
            $0[.data(of: name)] = data
            $0[.thumbImage(of: name)] = pictures?.thumbImage
            $0[.fullImage(of: name)] = pictures?.fullImage
        }
        return name
    }

    /// Changes a bug, as it is now: what another program changes at the same time is kept.
    func change(_ name: String, _ body: (ScaryBugData) -> Void) async throws {
        _ = try data(of: name)
        try await defaults.update(.data(of: name)) { data in
            body(try found(data, name))
        }
    }

    /// Changes the rating, as often as a slider moves.
    ///
    /// What the slider passes is not waited for, and is not sent at all if the next step comes before
    /// that. Where it stops is stored when this returns.
    func rate(_ name: String, _ ratings: [Rating]) async throws {
        for rating in ratings.dropLast() {
            let data = try data(of: name)
            data.rating = rating
            defaults[.data(of: name)] = data
        }
        guard let last = ratings.last else { return }
        try await change(name) { $0.rating = last }
    }

    /// Changes both pictures, or removes them.
    func setPictures(of name: String, _ pictures: Pictures?) async throws {
        try find(name)
        try await defaults.transaction {
            $0[.thumbImage(of: name)] = pictures?.thumbImage
            $0[.fullImage(of: name)] = pictures?.fullImage
        }
    }

    /// Deletes a bug and its pictures, also one that cannot be read.
    func delete(_ name: String) async throws {
        try find(name)
        try await defaults.transaction {
            $0.reset(.data(of: name))
            $0.reset(.thumbImage(of: name))
            $0.reset(.fullImage(of: name))
        }
    }
}
