public import DefaultsFoundation

extension ObjectCodingOptions {
    /// Classes are called `Book`, as programs in Objective-C call them, and not `Library.Book`.
    public static var plainNames: ObjectCodingOptions {
        var options = ObjectCodingOptions()
        options.classNames.omitsModules = true
        return options
    }
}
