extension KeyedArchive {
    /// Hands the value form of the archive to a sink.
    ///
    /// An object that several places share is shown in each, so the output can be far larger than
    /// the archive; the limits bound it.
    ///
    /// - Throws: ``ArchiveError`` where the output would be larger or deeper than the limits, and
    ///   what the sink throws. The sink may have taken events before that.
    public func render(
        into sink: inout some ValueFormSink, limits: ValueFormLimits = .standard
    ) throws {
        var renderer = ValueFormRenderer(of: self, limits: limits)
        try renderer.render(into: &sink)
    }

    /// Hands the value form of the archive to a sink that takes a number of values.
    ///
    /// - Throws: As above, and ``TooManyValues`` if there are more.
    package func render(
        into sink: inout some ValueFormSink, limits: ValueFormLimits = .standard, mostValues: Int
    ) throws {
        var renderer = ValueFormRenderer(of: self, limits: limits, mostValues: mostValues)
        try renderer.render(into: &sink)
    }
}
