internal import Foundation

// Foundation on Linux returns the contents of its collections as Swift values: strings are no
// longer mutable, and counted sets are empty. Mirrors show the original objects. If a mirror does
// not have the expected form, the values are used.

extension NSArray {
    var members: [Any] {
        let objects = Mirror(reflecting: self).children.compactMap { $0.value as? NSObject }
        return objects.count == count ? objects : Array(self)
    }
}

extension NSSet {
    var members: [Any] {
        let objects = Mirror(reflecting: self).children.compactMap { $0.value as? NSObject }
        return objects.count == count ? objects : allObjects
    }
}

extension NSDictionary {
    var entries: [(key: Any, value: Any)] {
        let entries = Mirror(reflecting: self).children.compactMap {
            $0.value as? (key: NSObject, value: AnyObject)
        }
        return entries.count == count ? entries.map { ($0.key, $0.value) } : Array(self)
    }
}
