/// Lines that `defaults` answers: what is done before, the line, and what it prints.
enum ShownLines {
    static let table: [(before: [String], line: String, output: String)] = [
        (["write com.shown.a k -bool true"], "read com.shown.a k", "1\n"),
        (["write com.shown.a f -bool no"], "read com.shown.a f", "0\n"),
        (["write com.shown.a r -float 0.25"], "read com.shown.a r", "0.25\n"),
        (["write com.shown.a w -float 3"], "read com.shown.a w", "3\n"),
        (["write com.shown.a s -string 'Café \"x\"'"], "read com.shown.a s", "Café \"x\"\n"),
        (
            ["write com.shown.a d -data 0fbe"], "read com.shown.a d",
            "{length = 2, bytes = 0x0fbe}\n"
        ),
        (
            ["write com.shown.a t -date '2024-02-29 12:00:01 +0000'"], "read com.shown.a t",
            "2024-02-29 12:00:01 +0000\n"
        ),
        (
            ["write com.shown.a l -array 1 'a b' -int -3"], "read com.shown.a l",
            """
            (
                1,
                "a b",
                "-3"
            )

            """
        ),
        (["write com.shown.a m -array"], "read com.shown.a m", "(\n)\n"),
        (["write com.shown.a n -dict"], "read com.shown.a n", "{\n}\n"),
        (
            [
                "write com.shown.b '{ z = (1, {a = b;}); \"a key\" = <0f>; real = <*R0.5>; yes = <*BY>; }'"
            ],
            "read com.shown.b",
            """
            {
                "a key" = {length = 1, bytes = 0x0f};
                real = "0.5";
                yes = 1;
                z =     (
                    1,
                            {
                        a = b;
                    }
                );
            }

            """
        ),
        (["write com.shown.b '{ only = 1; }'"], "read com.shown.b", "{\n    only = 1;\n}\n"),
        (["write com.shown.b other 2"], "READ com.shown.b other", "2\n"),
        ([], "read --json com.shown.b", #"{"only":"1","other":"2"}"# + "\n"),
        ([], "read com.shown.b only --json", "\"1\"\n"),
        (
            ["rename com.shown.b only new"], "read com.shown.b",
            "{\n    new = 1;\n    other = 2;\n}\n"
        ),
        (["rename com.shown.b new other"], "read com.shown.b", "{\n    other = 1;\n}\n"),
        (["rename com.shown.b other other"], "read com.shown.b", "{\n    other = 1;\n}\n"),
        (["delete com.shown.b other"], "domains", "com.shown.a\n"),
        (
            [
                "-currentHost write com.shown.c k here", "-host far write com.shown.c k there",
                "write com.shown.c k anywhere",
            ],
            "read com.shown.c k", "anywhere\n"
        ),
        ([], "-currentHost read com.shown.c k", "here\n"),
        ([], "-host far read com.shown.c k", "there\n"),
        ([], "read com.shown.c@host k", "here\n"),
        ([], "read com.shown.c@host:far k", "there\n"),
        ([], "-currentHost read", "{\n    \"com.shown.c\" =     {\n        k = here;\n    };\n}\n"),
        ([], "-currentHost domains", "com.shown.c\n"),
        ([], "domains", "com.shown.a, com.shown.c\n"),
        (
            [], "domains --json",
            #"["com.shown.a","com.shown.c","com.shown.c@host","com.shown.c@host:far"]"# + "\n"
        ),
        ([], "read --host=far com.shown.c k", "there\n"),
        ([], "read com.shown.c k --host far", "there\n"),
        ([], "read --current-host com.shown.c k", "here\n"),
        ([], "read --current-host -- com.shown.c k", "here\n"),
        ([], "-currentHost read -- com.shown.c k", "here\n"),
        ([], "read --host far", "{\n    \"com.shown.c\" =     {\n        k = there;\n    };\n}\n"),
        ([], "domains --host far", "com.shown.c\n"),
        ([], "find --host far there --json", #"{"com.shown.c":{"k":"there"}}"# + "\n"),
        ([], "read-type com.shown.c k --host far", "Type is string\n"),
        ([], "read-type com.shown.c k --json", "\"string\"\n"),
        (["write com.shown.c l --host=far 1"], "keys com.shown.c@host:far", "k\nl\n"),
        ([], "-host far keys com.shown.c", "k\nl\n"),
        ([], "keys --host far --json com.shown.c", "[\"k\",\"l\"]\n"),
        ([], "keys com.shown.c -0 --host far | tr '\\0' ,", "k,l,"),
        ([], "inspect --host far --json com.shown.c k", "\"there\"\n"),
        (["delete com.shown.c l --host far"], "-host far keys com.shown.c", "k\n"),
        (["write -g gl 1"], "keys -g", "gl\n"),
        ([], "keys 'Apple Global Domain'", "gl\n"),
        ([], "inspect -globalDomain gl --json", "\"1\"\n"),
        ([], "keys -globaldomain", "gl\n"),
        ([], "export -g - | grep -c '<key>gl</key>'", "1\n"),
        (["write -app 'My Painter' p 1"], "keys -app Painter", "p\n"),
        (["delete -app Painter", "delete -g"], "domains", "com.shown.a, com.shown.c\n"),
        (["delete-all com.shown.c k"], "domains --json", #"["com.shown.a"]"# + "\n"),
        (
            [
                "delete com.shown.a", "write -g Sound -bool true",
                "write com.shown.d '{ a = (Sound); b = 1; }'",
            ],
            "find sound",
            """
            Found 1 keys in domain 'Apple Global Domain': {
                Sound = 1;
            }
            Found 1 keys in domain 'com.shown.d': {
                a =     (
                    Sound
                );
            }

            """
        ),
        ([], "find SHOWN.D --json", #"{"com.shown.d":{"a":["Sound"],"b":"1"}}"# + "\n"),
        (
            ["write com.shown.d when -date 2024-02-29T12:00:01Z"],
            "find 2024-02-29T12",
            """
            Found 1 keys in domain 'com.shown.d': {
                when = "2024-02-29T12:00:01Z";
            }

            """
        ),
        (["delete com.shown.d when"], "find --json nothing-like-it || true", "{}\n"),
        ([], "domains", "com.shown.d\n"),
        (
            [], "read",
            """
            {
                "Apple Global Domain" =     {
                    Sound = 1;
                };
                "com.shown.d" =     {
                    a =         (
                        Sound
                    );
                    b = 1;
                };
            }

            """
        ),
        (
            [], "read --json",
            #"{"NSGlobalDomain":{"Sound":true},"com.shown.d":{"a":["Sound"],"b":"1"}}"# + "\n"
        ),
        (["delete com.shown.d a"], "read com.shown.d", "{\n    b = 1;\n}\n"),
        (
            [
                "write com.shown.d --json 1 o '{}' || true",
                "write com.shown.d o --json '{\"$class\":\"Account\",\"x\":[1]}'",
            ],
            "read com.shown.d o",
            "{\n    \"$class\" = Account;\n    x =     (\n        1\n    );\n}\n"
        ),
        ([], "read-type com.shown.d o", "Type is object\n"),
        ([], "read-type com.shown.d o --path x", "Type is array\n"),
        (
            ["write com.shown.d o --path x -array-add -int 2"], "read com.shown.d o --json",
            #"{"$class":"Account","x":[1,2]}"# + "\n"
        ),
        (["write --path x com.shown.d o -array"], "read com.shown.d o --path x", "(\n)\n"),
        (["write -app 'My Painter' k -int 1"], "read org.example.Painter k", "1\n"),
        ([], "read -app painter k", "1\n"),
        ([], "read -app org.example.painter k", "1\n"),
        ([], "read -app Malerin k", "1\n"),
        ([], "read -app org.example.Painter.desktop k", "1\n"),
        (["write -app 'nested one' k -int 2"], "read sub-nested k", "2\n"),
        (["write com.shown.e -- --key --value"], "read com.shown.e -- --key", "--value\n"),
        (["write -- -g k global"], "read -g k", "global\n"),
        (["write .GlobalPreferences com.shown.scaling -1"], "read -g com.shown.scaling", "-1\n"),
        (["write com.shown.f -- --foo -int 3"], "read com.shown.f -- --foo", "3\n"),
        (["write com.shown.f name -string -- --flag"], "read com.shown.f name", "--flag\n"),
        (["write com.shown.f name -- --bare"], "read com.shown.f name", "--bare\n"),
        (
            ["write -currentHost com.shown.f here -int 4"], "read -currentHost com.shown.f",
            "{\n    here = 4;\n}\n"
        ),
        (
            [], "read ~/Library/Preferences/ByHost/com.shown.f.0017F2C8A1B2.plist here", "4\n"
        ),
        ([], "-currentHost read ~/Library/Preferences/ByHost/com.shown.f here", "4\n"),
        (
            ["write ~/Library/Preferences/com.shown.g.plist k -int 5"], "read com.shown.g k", "5\n"
        ),
        (
            ["delete com.shown.g", "write com.shown.h a 1"], "delete --changed com.shown.h a",
            "changed\n"
        ),
        ([], "delete --changed com.shown.h a", "unchanged\n"),
        (["write com.shown.i.plist k -int 6"], "read com.shown.i k", "6\n"),
        ([], "read-type com.shown.i.plist k", "Type is integer\n"),
        ([], "keys com.shown.i.plist", "k\n"),
        ([], "inspect com.shown.i.plist k --json", "6\n"),
        ([], "inspect ~/Library/Preferences/com.shown.i.plist k --json", "6\n"),
        ([], "export com.shown.i.plist - | grep -c '<integer>6</integer>'", "1\n"),
        (["rename com.shown.i.plist k l"], "keys com.shown.i", "l\n"),
        (["delete com.shown.i.plist l"], "domains --json | grep -c shown.i || true", "0\n"),
        (
            ["grant com.shown.app read -g com.shown.i.plist"], "grants | tr -s ' '",
            "com.shown.app read NSGlobalDomain domain\ncom.shown.app read com.shown.i domain\n"
        ),
        (["revoke com.shown.app read -globalDomain com.shown.i"], "grants", ""),
        (["roam add -g com.shown.i.plist"], "roam domains | wc -l", "2\n"),
        (["roam drop -globaldomain com.shown.i.plist"], "roam domains", ""),
        (
            ["write -g k -int 1", "backup now", "delete -g k"],
            "backup restore latest --domain -g --changed", "changed\n"
        ),
    ]
}
