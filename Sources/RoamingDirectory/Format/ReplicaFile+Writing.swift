import DefaultsRoaming
import PropertyList

extension ReplicaFile {
    /// The file: lines of text, of which the last one has the hash of all others.
    package var bytes: [UInt8] {
        var writer = LineWriter()
        writer.add(FileText.firstLine)
        writer.add(.replica, replica.description)
        writer.add(.sequence, String(sequence))
        writer.add(.stamp, FileText.hexadecimal(stamp))
        writer.add(.content, String(content))
        writer.add(.written, String(written))
        writer.begin(.name)
        writer.addName(name)
        if let batch {
            writer.add(.batch, "\(batch.number) \(FileText.hexadecimal(batch.nonce))")
        }
        for (other, content) in joined.sorted(by: { $0.key < $1.key }) {
            writer.add(.joined, "\(other) \(content)")
        }
        for other in forgotten.sorted() { writer.add(.forgotten, other.description) }
        for entry in entries { writer.add(entry) }
        return writer.finish()
    }
}

/// The lines of a file that is being made.
private struct LineWriter {
    private var bytes: [UInt8] = []

    mutating func add(_ line: String) {
        bytes += line.utf8
        bytes.append(UInt8(ascii: "\n"))
    }

    mutating func add(_ word: FileWord, _ rest: String) {
        add("\(word) \(rest)")
    }

    mutating func begin(_ word: FileWord) {
        bytes += word.rawValue.utf8
        bytes.append(UInt8(ascii: " "))
    }

    /// Ends a line with a name.
    mutating func addName(_ name: String) {
        FileText.write(name, to: &bytes)
        bytes.append(UInt8(ascii: "\n"))
    }

    mutating func add(_ entry: ReplicaFile.Entry) {
        begin(.key)
        bytes += entry.key.domain.utf8
        bytes.append(UInt8(ascii: " "))
        addName(entry.key.name)
        for dot in entry.covers.dots { add(.covers, "\(dot.replica) \(dot.counter)") }
        for head in entry.heads.sorted(by: { $0.dot.replica < $1.dot.replica }) {
            let version = "\(head.dot.replica) \(head.dot.counter) \(FileText.word(for: head.time))"
            guard let archive = head.archive else {
                add(.removed, version)
                continue
            }
            begin(.set)
            bytes += version.utf8
            bytes.append(UInt8(ascii: " "))
            Base64.encode(archive[...], to: &bytes)
            bytes.append(UInt8(ascii: "\n"))
        }
    }

    mutating func finish() -> [UInt8] {
        add(.end, FileText.hexadecimal(Blake2b.hash(of: bytes)))
        return bytes
    }
}
