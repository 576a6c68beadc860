import DefaultsClient

extension AnyDefaultsKey {
    static let flag = DefaultsKey("Flag", default: false)
    static let count = DefaultsKey("Count", default: 0)

    // Tests name keys as they like; an application declares each once.
    static func number(_ name: String) -> DefaultsKey<Int> { DefaultsKey(name, default: 0) }
    static func text(_ name: String) -> DefaultsKey<String> { DefaultsKey(name, default: "") }
}
