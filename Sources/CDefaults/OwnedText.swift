/// Text as C has it, which is freed with the last reference to it.
final class OwnedText: @unchecked Sendable {
    /// The text with a NUL at its end, which nobody changes.
    let pointer: UnsafePointer<CChar>

    init(_ text: String) {
        let bytes = text.utf8CString
        let memory = UnsafeMutableBufferPointer<CChar>.allocate(capacity: bytes.count)
        _ = memory.initialize(from: bytes)
        // A text has at least its NUL, so there is memory.
        pointer = UnsafePointer(memory.baseAddress.unsafelyUnwrapped)
    }

    deinit {
        pointer.deallocate()
    }
}
