package import PropertyList

/// Objects that are spelled as dictionaries.
extension ValueFormSink {
    /// Takes a date as the object that NSDate is.
    package mutating func dateObject(_ secondsSince2001: Double) throws {
        try beginDictionary()
        try key("$class")
        try string("NSDate")
        try key("NS.time")
        try real(secondsSince2001)
        try endDictionary()
    }

    /// Takes a dictionary with any keys: where some have a meaning in the value form, which are those
    /// with `$`, as the object that NSDictionary is.
    package mutating func dictionary(
        keys: [Text], value: (Int, inout Self) throws -> Void
    ) throws {
        try beginDictionary()
        guard keys.contains(where: { $0.hasPrefix("$") }) else {
            for (position, name) in keys.enumerated() {
                try key(name)
                try value(position, &self)
            }
            return try endDictionary()
        }
        try beginPairs(keys)
        for position in keys.indices { try value(position, &self) }
        try endArray()
        try endDictionary()
    }

    /// Takes the keys of a dictionary as the fields of the object; its values come next.
    package mutating func beginPairs(_ keys: [Text]) throws {
        try key("$class")
        try string("NSDictionary")
        try key("NS.keys")
        try beginArray()
        for name in keys { try string(name) }
        try endArray()
        try key("NS.objects")
        try beginArray()
    }
}
