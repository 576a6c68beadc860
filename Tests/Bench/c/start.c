/* start: how long the first call takes where the bus has to start the service.
 *
 * usage: start ours|floor */
#include "measuring.h"

int main(int count, char **arguments) {
    if (count != 2) return 64;
    DBusMessage *message;
    if (!strcmp(arguments[1], "ours")) {
        message = new_call(OURS, "ListKeys");
        append_string(message, "org.example.Absent");
    } else {
        message = new_call(FLOOR_PEER, "Ping");
    }
    DBusConnection *bus = connect_to_bus();
    report(arguments[1], time_call(bus, message));
    return 0;
}
