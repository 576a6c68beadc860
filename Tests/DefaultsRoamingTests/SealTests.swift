import KeyedArchive
import RoamingTerms
import Testing

@testable import DefaultsRoaming

@Suite("A seal")
struct SealTests {
    let seal = Seal(.random())
    let key = RoamingKey(domain: "org.example.Editor", name: "FontName")
    let archive = Array("an archive, or what stands for one".utf8)

    @Test("opens what it has sealed", arguments: [0, 1, 200, 255, 256, 257, 5000, 1_000_000])
    func roundTrip(count: Int) throws {
        let archive = [UInt8](repeating: 7, count: count)
        let sealed = seal.seal(archive, of: key)
        let again = seal.seal(archive, of: key)
        let opened = try #require(seal.open(sealed, named: seal.name(of: key)))
        // A failure shows no million bytes.
        let (isEqual, isBack) = (sealed == again, opened.archive == archive)
        #expect(isEqual && isBack)
        #expect(opened.key == key)
    }

    @Test("tells a removal from an empty archive")
    func removal() throws {
        let sealed = seal.seal(nil, of: key)
        let opened = try #require(seal.open(sealed, named: seal.name(of: key)))
        #expect(opened.key == key && opened.archive == nil)
        #expect(sealed.count == seal.seal([], of: key).count)
    }

    @Test("refuses a value of which any bit was changed")
    func changed() {
        let sealed = seal.seal(archive, of: key)
        for index in sealed.indices {
            var other = sealed
            other[index] ^= UInt8(1 << (index % 8))
            #expect(seal.open(other, named: seal.name(of: key)) == nil, "byte \(index)")
        }
    }

    @Test("refuses a value that was cut, or to which something was added")
    func cut() {
        let sealed = seal.seal(archive, of: key)
        for count in sealed.indices {
            #expect(seal.open(Array(sealed.prefix(count)), named: seal.name(of: key)) == nil)
        }
        #expect(seal.open(sealed + [0], named: seal.name(of: key)) == nil)
    }

    @Test("refuses the value of another key, and of another seal")
    func swapped() {
        let other = RoamingKey(domain: key.domain, name: "FontSize")
        #expect(seal.open(seal.seal(archive, of: other), named: seal.name(of: key)) == nil)
        let stranger = Seal(.random())
        #expect(stranger.name(of: key) != seal.name(of: key))
        #expect(seal.open(stranger.seal(archive, of: key), named: seal.name(of: key)) == nil)
    }

    @Test("tells keys apart whose domain and name are the same text")
    func names() {
        let left = RoamingKey(domain: "org.example", name: "a.b")
        let right = RoamingKey(domain: "org.example.a", name: "b")
        #expect(seal.name(of: left) != seal.name(of: right))
    }

    @Test("gives two values of a key different nonces, and equal lengths")
    func nonces() {
        let other = Array("another archive, or what stands for another one".utf8)
        let (left, right) = (seal.seal(archive, of: key), seal.seal(other, of: key))
        #expect(left.prefix(Sodium.nonceSize) != right.prefix(Sodium.nonceSize))
        #expect(left.count == right.count)
    }

    @Test("has few lengths, none of which is larger than what roams")
    func lengths() {
        var lengths: Set<Int> = []
        let largest = RoamTerms.largestValue - Seal.overhead
        for count in 1...largest {
            let length = Seal.length(for: count)
            #expect(length >= count && length <= max(256, count + max(64, count / 16)))
            #expect(length <= largest)
            lengths.insert(length)
        }
        #expect(lengths.count < 200)
    }

    @Test(
        "keeps the names of machines",
        arguments: ["laptop", "", "ñandú", String(repeating: "é", count: 99)])
    func machines(name: String) throws {
        let replica = ReplicaID.random()
        let sealed = seal.seal(machine: name, of: replica)
        #expect(sealed.utf8.count <= 85)
        #expect(sealed.utf8.count == seal.seal(machine: "x", of: replica).utf8.count)
        let opened = try #require(seal.open(machine: sealed, of: replica))
        #expect(name.hasPrefix(opened) && (opened == name || opened.utf8.count > 20))
        #expect(seal.open(machine: sealed, of: .random()) == nil)
        #expect(seal.open(machine: "laptop", of: replica) == nil)
    }
}

@Suite("A wrapped key")
struct WrappedKeyTests {
    let key = MasterKey.random()

    private func wrap(_ passphrase: String) throws -> WrappedKey {
        try WrappedKey(key, passphrase: passphrase, operations: 1, memory: 8192)
    }

    @Test("is opened by its passphrase, also after it was a value")
    func roundTrip() throws {
        let wrapped = try wrap("correct horse")
        let read = try #require(WrappedKey(archive: wrapped.archive().bytes))
        #expect(read == wrapped)
        #expect(try read.key(passphrase: "correct horse") == key)
        #expect(read.wraps(key) && !read.wraps(.random()))
    }

    @Test("is not opened by another passphrase")
    func wrong() throws {
        let wrapped = try wrap("correct horse")
        #expect(throws: RoamError.wrongPassphrase) { try wrapped.key(passphrase: "correct hors") }
        #expect(throws: RoamError.wrongPassphrase) { try wrapped.key(passphrase: "") }
    }

    @Test("is made with as much work as the service can do")
    func usual() throws {
        #expect(try WrappedKey(key, passphrase: "a").key(passphrase: "a") == key)
    }

    @Test("is never the same twice")
    func salted() throws {
        #expect(try wrap("a") != wrap("a"))
    }

    @Test("says nothing of the key")
    func secret() throws {
        let text = "\(key) \(String(reflecting: key))"
        #expect(!text.contains("\(key.bytes[0]), \(key.bytes[1])"))
        let archive = try wrap("a").archive().bytes
        #expect(!archive.contains(key.bytes.prefix(6)))
    }
}
