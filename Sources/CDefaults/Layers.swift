import DefaultsClient
import Glibc

/// The numbers of `defaults_layer_t`, in the order of the search list.
enum LayerNumber {
    private static let layers: [DefaultsLayer] = [
        .managed, .globalManaged, .arguments, .host, .domain, .globalHost, .global, .system,
        .globalSystem,
    ]

    /// The layer of a number.
    ///
    /// - Throws: ``CallError`` for a number that is none.
    static func layer(_ number: Int32) throws(CallError) -> DefaultsLayer {
        let place = Int(number) - 1
        guard layers.indices.contains(place) else {
            throw CallError(.argument, "\(number) is not the number of a layer.")
        }
        return layers[place]
    }

    /// The number of a layer; 0 for one that has none.
    static func number(of layer: DefaultsLayer?) -> Int32 {
        guard let layer, let place = layers.firstIndex(of: layer) else { return 0 }
        return Int32(truncatingIfNeeded: place + 1)
    }

    private static let names = layers.map { ConstantText($0.rawValue) }

    fileprivate static func name(of number: Int32) -> UnsafePointer<CChar> {
        let place = Int(number) - 1
        return names.indices.contains(place) ? names[place].text : ("" as StaticString).constant
    }
}

/// `defaults_layer` of defaults.h.
@_cdecl("defaults_layer")
public func layer(_ defaults: OpaquePointer?, _ key: UnsafePointer<CChar>?) -> Int32 {
    result {
        let handle = try handle(defaults)
        return LayerNumber.number(of: try handle.named.layer(of: keyName(key)))
    } ?? 0
}

/// `defaults_layer_name` of defaults.h.
@_cdecl("defaults_layer_name")
public func layerName(_ layer: Int32) -> UnsafePointer<CChar> { LayerNumber.name(of: layer) }

/// `defaults_is_locked` of defaults.h.
@_cdecl("defaults_is_locked")
public func isLocked(_ defaults: OpaquePointer?, _ key: UnsafePointer<CChar>?) -> Bool {
    result { try handle(defaults).named.isLocked(keyName(key)) } ?? false
}

/// `defaults_copy_keys` of defaults.h.
@_cdecl("defaults_copy_keys")
public func copyKeys(
    _ defaults: OpaquePointer?, _ layer: Int32, _ count: UnsafeMutablePointer<Int>?
) -> UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? {
    count?.pointee = 0
    return result {
        let handle = try handle(defaults)
        let layer = layer == 0 ? nil : try LayerNumber.layer(layer)
        let keys = handle.named.defaults.keys(in: layer)
        let array = try copy(keys)
        count?.pointee = keys.count
        return array
    }
}

/// Strings and an array of them, in one piece of memory.
private func copy(
    _ strings: [String]
) throws(CallError) -> UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> {
    let head = (strings.count + 1) * MemoryLayout<UnsafeMutablePointer<CChar>?>.stride
    let size = strings.reduce(head) { $0 + $1.utf8.count + 1 }
    guard let memory = malloc(size) else { throw .noMemory }
    let array = memory.bindMemory(
        to: UnsafeMutablePointer<CChar>?.self, capacity: strings.count + 1)
    var text = (memory + head).bindMemory(to: CChar.self, capacity: size - head)
    for (place, string) in strings.enumerated() {
        array[place] = text
        for byte in string.utf8 {
            text.pointee = CChar(bitPattern: byte)
            text += 1
        }
        text.pointee = 0
        text += 1
    }
    array[strings.count] = nil
    return array
}
