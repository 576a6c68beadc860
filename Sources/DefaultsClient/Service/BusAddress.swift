public import DBus

/// Where a bus is: `session`, that of the user, or one by its `address`, such as
/// `unix:path=/run/user/1000/bus`.
public typealias BusAddress = Address
