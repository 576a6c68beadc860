internal import DefaultsModel
internal import DefaultsXfconf
internal import PropertyList

/// Takes the part of a channel's file that belongs to one layer.
///
/// What the file locks for the user is in the managed layer, as a value or as a lock, and everything
/// else is in the system layer.
struct ChannelLayer {
    private let file: LayerFile
    private let channel: ChannelFile
    private var contents: LayerContents

    init(_ bytes: [UInt8], of file: LayerFile, for user: UserNames) throws(LayerProblem) {
        self.file = file
        contents = LayerContents(of: file)
        do throws(ChannelFileError) {
            channel = try ChannelFile(bytes, for: user)
        } catch {
            throw LayerProblem(
                error.isTooLarge ? .tooLarge : .syntax, file.path, at: (error.line, error.column),
                error.message)
        }
    }

    mutating func read() throws(LayerProblem) -> LayerDocument {
        do throws(LayerFault) {
            if contents.canLock, channel.isLocked { try contents.add(lock: "*") }
            for property in channel.properties
            where (channel.isLocked || property.isLocked) == contents.canLock {
                try add(property)
            }
        } catch {
            throw error.problem(file.path, at: nil)
        }
        return LayerDocument(contents, remarks: [])
    }

    /// The error, if there is one.
    mutating func check() -> (errors: [LayerProblem], remarks: [LayerProblem]) {
        do throws(LayerProblem) {
            _ = try read()
            return ([], [])
        } catch {
            return ([error], [])
        }
    }

    private mutating func add(_ property: ChannelFile.Property) throws(LayerFault) {
        let key = try contents.key(Text(property.key.name))
        guard let value = property.value else { return try contents.add(lock: Text(key.name)) }
        do {
            try contents.add(try value.archive(), for: key)
        } catch let error as LayerFault {
            throw error
        } catch {
            throw .badValue(key, "\(error)")
        }
    }
}
