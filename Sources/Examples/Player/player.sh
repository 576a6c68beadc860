#!/bin/sh
# A music player in a status bar, and on the keys of a keyboard: a shell script with defaultsctl.
#
#     ./player.sh            prints "shuffle 50%" now and after each change, until it is interrupted
#     ./player.sh toggle     turns shuffle on or off
#     ./player.sh louder     raises the volume by a tenth; quieter lowers it
#
# Status bars such as waybar, polybar and i3blocks run the first line and show what it prints. The window manager runs
# the others when a key is pressed.
set -eu
# Numbers have a point in every country.
export LC_ALL=C
player=org.example.Player

# The value that applies, from all layers, as JSON; or the second word if there is none.
value() { defaultsctl read --effective --json "$player" "$1" 2>/dev/null || echo "$2"; }

# Replaces a value by what a function makes of it. If another program changes it at the same time, its generation is
# another one, and the write is refused. Then the newer value is replaced. So two key presses are never counted as one.
replace() { # KEY FALLBACK TYPE FUNCTION
    while :; do
        generation=$(defaultsctl read --generation "$player" "$1")
        new=$("$4" "$(value "$1" "$2")")
        error=$(defaultsctl write "$player" "$1" "$3" "$new" --if-generation "$generation" 2>&1) && return
        # A write is also refused if the key is locked: then nothing has changed meanwhile.
        [ "$(defaultsctl read --generation "$player" "$1")" != "$generation" ] || break
    done
    echo "$error" >&2
    exit 1
}

opposite() { if [ "$1" = true ]; then echo false; else echo true; fi; }
louder() { echo "$1" | awk '{ v = $1 + 0.1; print v > 1 ? 1 : v }'; }
quieter() { echo "$1" | awk '{ v = $1 - 0.1; print v < 0 ? 0 : v }'; }

line() {
    if [ "$(value Shuffle false)" = true ]; then mode=shuffle; else mode="in order"; fi
    value Volume 0.5 | awk -v mode="$mode" '{ printf "%s %.0f%%\n", mode, $1 * 100 }'
}

case "${1-}" in
"")
    # Each line of watch is a change. What it is does not matter here: --json would print it as an object.
    defaultsctl watch "$player" | { line; while read -r _; do line; done; }
    ;;
toggle) replace Shuffle false -bool opposite ;;
louder | quieter) replace Volume 0.5 -float "$1" ;;
*)
    echo "usage: $0 [toggle | louder | quieter]" >&2
    exit 64
    ;;
esac
