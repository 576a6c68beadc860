/// Data as NSData describes itself: its length, and its bytes, of many the first 16 and the last 8.
struct DescribedData {
    private static let mostBytes = 24
    private static let firstBytes = 16
    private static let lastBytes = 8
    private static let group = 4

    private let data: ArraySlice<UInt8>

    init(_ data: ArraySlice<UInt8>) {
        self.data = data
    }

    var text: String {
        guard data.count > Self.mostBytes else {
            return "{length = \(data.count), bytes = 0x\(Self.digits(data))}"
        }
        let (first, last) = (data.prefix(Self.firstBytes), data.suffix(Self.lastBytes))
        return "{length = \(data.count), bytes = 0x\(Self.groups(first)) ... "
            + "\(Self.groups(last)) }"
    }

    private static func groups(_ bytes: ArraySlice<UInt8>) -> String {
        stride(from: bytes.startIndex, to: bytes.endIndex, by: group).map {
            digits(bytes[$0..<min($0 + group, bytes.endIndex)])
        }.joined(separator: " ")
    }

    private static func digits(_ bytes: ArraySlice<UInt8>) -> String {
        bytes.map { ($0 < 0x10 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
