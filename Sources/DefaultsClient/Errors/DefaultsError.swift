public import DefaultsProtocol

/// A refusal of the service, with a sentence for people that never holds a value.
///
/// ```swift
/// do {
///     try await defaults.commit { $0[.volume] = 0.5 }
/// } catch let error as DefaultsError where error.code == .locked {
///     show(error.message)
/// }
/// ```
///
/// Its `code` says which refusal it is, such as `locked`, `tooLarge` or `storageFailed`.
public typealias DefaultsError = DefaultsProtocol.DefaultsError
