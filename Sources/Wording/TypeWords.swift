/// What the values of a type are, such as `an array`.
///
/// Users do not know the names that the standard library has for its types. The name of any other type
/// is that of the program.
package func words(for type: Any.Type) -> String {
    switch type {
    case is Bool.Type: "a boolean"
    case is any BinaryInteger.Type: "an integer"
    case is any BinaryFloatingPoint.Type: "a number"
    case is any StringProtocol.Type: "a string"
    case let type as any StandardType.Type: type.valueWords
    default: "a value of the type \(type)"
    }
}

/// A generic type of the standard library.
private protocol StandardType {
    static var valueWords: String { get }
}

extension Array: StandardType { fileprivate static var valueWords: String { "an array" } }
extension Set: StandardType { fileprivate static var valueWords: String { "a set" } }
extension Dictionary: StandardType {
    fileprivate static var valueWords: String { "a dictionary or an object" }
}
extension Optional: StandardType {
    fileprivate static var valueWords: String { words(for: Wrapped.self) }
}
