package import PropertyList

/// A value that is no collection and no object of a class.
package enum Scalar {
    case null
    case boolean(Bool)
    case integer(Int128)
    case real(Double)
    case string(Text)
    case data(ArraySlice<UInt8>)
    case date(Double)
}
