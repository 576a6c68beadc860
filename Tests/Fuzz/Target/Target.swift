internal import CLibFuzzer
internal import Glibc
internal import CodecProperties

/// The functions that libFuzzer calls, by its names for them.

/// Tries one input with every part; ends the process if a promise is broken.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
    // The bytes are libFuzzer's, and gone when this returns, so they are copied.
    let input = Array(UnsafeBufferPointer(start: data, count: size))
    for part in Part.all {
        do {
            _ = try part.check(input)
        } catch {
            fatalError("\(part.name): \(error)")
        }
    }
    return 0
}

/// Changes an input in place: by our mutator, which knows property lists, or by that of libFuzzer,
/// which knows what the program compared.
@_cdecl("LLVMFuzzerCustomMutator")
public func mutate(
    _ data: UnsafeMutablePointer<UInt8>?, _ size: Int, _ maxSize: Int, _ seed: UInt32
) -> Int {
    var mutator = Mutator(seed: UInt64(seed))
    guard let data, mutator.isTurn() else { return LLVMFuzzerMutate(data, size, maxSize) }
    let input = Array(UnsafeBufferPointer(start: data, count: size))
    let output = mutator.mutated(input).prefix(maxSize)
    // The buffer has room for `maxSize` bytes.
    return UnsafeMutableBufferPointer(start: data, count: maxSize).update(fromContentsOf: output)
}

/// Where the program is called as `fuzz-codec seeds FOLDER`, writes the first inputs and the
/// dictionary there, and ends; else lets libFuzzer go on.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(
    _ argumentCount: UnsafeMutablePointer<Int32>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>
) -> Int32 {
    guard CommandLine.arguments.count == 3, CommandLine.arguments[1] == "seeds" else { return 0 }
    let folder = CommandLine.arguments[2]
    write(Array(Words.dictionary.utf8), to: folder + "/words.dict")
    for seed in Seeds.all { write(seed.bytes, to: "\(folder)/seeds/\(seed.name)") }
    exit(EXIT_SUCCESS)
}

private func write(_ bytes: [UInt8], to path: String) {
    guard let file = fopen(path, "w"), fwrite(bytes, 1, bytes.count, file) == bytes.count,
        fclose(file) == 0
    else {
        perror(path)
        exit(EXIT_FAILURE)
    }
}
