/// Lines that `defaultsctl` refuses, and that change nothing.
///
/// Each is the line as a shell has it, the exit status, and a part of the sentence on standard error.
enum RefusedLines {
    static let table = #"""
        read com.example.there missing | 1 | The domain/default pair of (com.example.there, missing) does not exist
        read com.example.missing | 1 | Domain com.example.missing does not exist
        read -g | 1 | Domain Apple Global Domain does not exist
        read -g missing | 1 | The domain/default pair of (NSGlobalDomain, missing) does not exist
        -currentHost read com.example.there | 1 | Domain com.example.there@host does not exist
        -host elsewhere read com.example.there k | 1 | The domain/default pair of (com.example.there@host:elsewhere, k) does not exist
        read-type com.example.there missing | 1 | The domain/default pair of (com.example.there, missing) does not exist
        delete com.example.missing | 1 | Domain (com.example.missing) not found. Defaults have not been changed.
        delete com.example.there missing | 1 | Key 'missing' of domain com.example.there not found. Defaults have not been changed.
        delete com.example.there objec | 1 | Key 'objec' of domain com.example.there not found. Defaults have not been changed. Did you mean 'object'?
        delete com.example.thre | 1 | Domain (com.example.thre) not found. Defaults have not been changed. Did you mean 'com.example.there'?
        remove com.example.missing | 1 | Domain (com.example.missing) not found. Defaults have not been changed.
        delete-all com.example.missing | 1 | Domain (com.example.missing) not found.
        delete-all com.example.there missing | 1 | Key 'missing' of domain com.example.there not found.
        grant 'a b' read com.example.there | 64 | 'a b' is not an application ID.
        grant com.example.app read 'a..*' | 64 | 'a..*' does not name domains.
        grant com.example.app look com.example.there | 64 | Please provide one of 'read' and 'write'
        revoke com.example.app | 1 | com.example.app has no such grant.
        revoke com.example.app read com.example.there | 1 | 'com.example.there' is not granted to com.example.app.
        find nothing-like-it | 1 | No domain, key, nor value containing 'nothing-like-it'
        read -currentHost com.example.there | 1 | Domain com.example.there@host does not exist
        read -host elsewhere com.example.there k | 1 | The domain/default pair of (com.example.there@host:elsewhere, k) does not exist
        rename com.example.there missing new | 1 | Key missing does not exist in domain com.example.there; leaving defaults unchanged
        rename com.example.there object k | 1 | The key k exists in domain com.example.there. To replace its value, give --replace. Nothing was changed.
        rename -g missing new | 1 | Key missing does not exist in domain Apple Global Domain; leaving
        import com.example.there /nonexistent/file | 1 | Could not read data from /nonexistent/file
        import com.example.there / | 1 | Could not read data from /
        write com.example.there k '(1, 2' | 64 | Could not parse: (1, 2. (
        write com.example.there k '{ a = 1; b }' | 64 | Could not parse: { a = 1; b }. (
        write com.example.there k '[1, 2]' | 64 | Could not parse: [1, 2]. (
        write com.example.there k '{"a": 1}' | 64 | It is JSON: put --json before it.
        write com.example.there '{"a":1}' | 64 | It is JSON, which 'defaultsctl import DOMAIN -' takes from standard input.
        write com.example.there k '[1, 2' | 64 | To store it as a string, put -string before it.
        write com.example.there k 'Local (here)' | 64 | Could not parse: Local (here). (
        write com.example.there k 'a < b' | 64 | Could not parse: a < b. (
        write com.example.there k '<0fb>' | 64 | Could not parse: <0fb>. (
        write com.example.there k '<dict><key>a</key></dict>' | 64 | Could not parse: <dict>
        write com.example.there k '"a" "b"' | 64 | Could not parse
        write com.example.there k 'a\' | 64 | Could not parse
        write com.example.there k -array '(1' | 64 | Could not parse: (1. (
        write com.example.there k -dict '(a)' 1 | 64 | Dictionary keys must be strings
        write com.example.there k -dict -int 1 1 | 64 | Dictionary keys must be strings
        write com.example.there k -dict a | 64 | Key a lacks a corresponding value
        write com.example.there k -dict a 1 b | 64 | Key b lacks a corresponding value
        write com.example.there k -array -array 1 | 64 | Cannot nest composite types (arrays and dictionaries)
        write com.example.there k -array -dict a 1 | 64 | Cannot nest composite types (arrays and dictionaries)
        write com.example.there k -dict a -array 1 | 64 | Cannot nest composite types (arrays and dictionaries)
        write com.example.there k -dict-add a -dict b c | 64 | Cannot nest composite types (arrays and dictionaries)
        write com.example.there k one two | 64 | Unexpected argument two; leaving defaults unchanged.
        write com.example.there k -int 1 2 | 64 | Unexpected argument 2; leaving defaults unchanged.
        write com.example.there k -string a b | 64 | Unexpected argument b; leaving defaults unchanged.
        write com.example.there k -int 1 -string 1 | 64 | Unexpected argument -string; leaving defaults unchanged.
        write com.example.there k -int 1 --json 1 | 64 | Give only one value: --json cannot be combined with another value
        write com.example.there k -array-add 1 | 1 | Value for key k is not an array; cannot append.  Leaving defaults unchanged.
        write com.example.there k -dict-add a 1 | 1 | Value for key k is not a dictionary; cannot append.  Leaving defaults unchanged.
        write com.example.there object -dict-add a 1 | 1 | Value for key object is not a dictionary; cannot append.
        write com.example.there '(1, 2)' | 1 | Rep argument is not a dictionary. Defaults have not been changed.
        write com.example.there key | 64 | Give a value
        write com.example.there "" | 64 | Give a value
        write com.example.there '{ a = 1' | 64 | Could not parse: { a = 1. (
        write com.example.there '<dict><key>a</key><dict><key>CF$UID</key><integer>1</integer></dict></dict>' | 1 | a reference (CF$UID) outside a keyed archive
        write /Library/Managed/com.example.x k -int 1 | 1 | Only NAME.plist and a path that ends with '/Preferences/NAME.plist' mean a domain, NAME.
        write ~/Library/com.example.x k -int 1 | 1 | defaultsctl import DOMAIN FILE
        write ~/Library/Preferences/folder/com.example.x k -int 1 | 1 | is the path of a file
        write ~/Library/Preferences/ k -int 1 | 1 | is the path of a file
        -host a write ~/Library/Preferences/ByHost/com.example.x.0017F2C8A1B2 k -int 1 | 64 | Give one host
        write '~/com.example.x' k -int 1 | 1 | is the path of a file
        read ./com.example.x | 1 | is the path of a file
        delete /tmp/x | 1 | is the path of a file
        write "com.example.Foo Bar" k -int 1 | 1 | com.example.Foo Bar
        write com..example k -int 1 | 1 | com..example
        write com.example.there "" -int 1 | 1 | key
        read "not a domain" | 1 | not a domain
        write com.example.there@managed k -int 1 | 1 | managed
        read -app Nothing | 1 | Couldn't find an application named "Nothing"; defaults unchanged
        write -app Twins k -int 1 | 1 | Several applications are named "Twins"
        write -app "Paint" k -int 1 | 1 | there is org.example.Painter
        write -x k -int 1 | 64 | '-x' is not a domain, because it begins with a hyphen.
        write -- -x k -int 1 | 64 | '-x' is not a domain
        write - k -int 1 | 64 | '-' is not a domain
        write -x.plist k -int 1 | 64 | '-x' is not a domain
        write ~/Library/Preferences/-x.plist k -int 1 | 64 | '-x' is not a domain
        write -globalDomian k -int 1 | 64 | Did you mean '-globalDomain'?
        write -currenthost com.example.there k -int 1 | 64 | Did you mean '-currentHost'?
        import -x /dev/null | 64 | '-x' is not a domain
        read -x | 64 | '-x' is not a domain
        delete -x k | 64 | '-x' is not a domain
        rename -x k l | 64 | '-x' is not a domain
        export -x - | 64 | '-x' is not a domain
        keys -x | 64 | '-x' is not a domain
        explain -x k | 64 | '-x' is not a domain
        locked -x k | 64 | '-x' is not a domain
        watch -x | 64 | '-x' is not a domain
        backup restore latest --domain=-x | 64 | '-x' is not a domain
        write com.example.there | 64 | <key>
        write | 64 | <domain>
        write -g | 64 | <key>
        write -app | 64 | -app needs the name of an application
        write com.example.there k -int | 64 | -int needs a value
        write com.example.there k -string | 64 | -string needs a value
        write com.example.there k -bool | 64 | -bool needs a value
        write com.example.there k -date | 64 | -date needs a value
        write com.example.there k -array -int | 64 | -int needs a value
        write com.example.there k -dict a -bool | 64 | -bool needs a value
        write com.example.there k -bool perhaps | 64 | 'perhaps' is not a boolean
        write com.example.there k -bool 2 | 64 | '2' is not a boolean
        write com.example.there k -boolean on | 64 | 'on' is not a boolean
        write com.example.there k -bool "" | 64 | '' is not a boolean
        write com.example.there k -data xyz | 64 | 'xyz' is not data
        write com.example.there k -data "0f be" | 64 | '0f be' is not data
        write com.example.there k -data 0x0f | 64 | '0x0f' is not data
        write com.example.there k -date someday | 64 | 'someday' is not a date
        write com.example.there k -date 2024-02-30 | 64 | '2024-02-30' is not a date
        write com.example.there k -date "2024-02-29 25:00" | 64 | is not a date
        write com.example.there k -date "" | 64 | '' is not a date
        write com.example.there k -date "Sun, 29 Feb 2024 12:00:00 +0000" | 64 | is not a date
        write com.example.there k -date "29 Feb 2024 12:00 XYZ" | 64 | is not a date
        write com.example.there k -date 12:00 | 64 | '12:00' is not a date
        write com.example.there k -date "2001-01-01 2001-01-01" | 64 | is not a date
        write com.example.there k -int 1e3 | 64 | '1e3' is not an integer. Nothing was stored.
        write com.example.there k -int 3.99 | 64 | '3.99' is not an integer
        write com.example.there k -int 15px | 64 | '15px' is not an integer
        write com.example.there k -integer 0x1F | 64 | '0x1F' is not an integer
        write com.example.there k -int 1,000 | 64 | '1,000' is not an integer
        write com.example.there k -int '1 2' | 64 | '1 2' is not an integer
        write com.example.there k -int YES | 64 | 'YES' is not an integer
        write com.example.there k -int "" | 64 | '' is not an integer
        write com.example.there k -int - | 64 | '-' is not an integer
        write com.example.there k -int inf | 64 | 'inf' is not an integer
        write com.example.there k -float 0,5 | 64 | '0,5' is not a real number. Nothing was stored.
        write com.example.there k -float 50% | 64 | '50%' is not a real number
        write com.example.there k -float 2e | 64 | '2e' is not a real number
        write com.example.there k -float 0x1p3 | 64 | '0x1p3' is not a real number
        write com.example.there k -float 1.2.3 | 64 | '1.2.3' is not a real number
        write com.example.there k -float "" | 64 | '' is not a real number
        write com.example.there k -array -int 1x | 64 | '1x' is not an integer
        write com.example.there k -dict a -float 0,5 | 64 | '0,5' is not a real number
        write com.example.there k -float 1e-400 | 64 | '1e-400' is smaller than any real number except 0
        write com.example.there k -float -1e400 | 64 | is larger than any real number
        write com.example.there k -float 1e400 | 64 | '1e400' is larger than any real number
        write com.example.there k --json | 64 | --json
        write com.example.there k --json '{' | 64 | --json
        write com.example.there k --json 1 -int 1 | 64 | Give only one value
        write com.example.there k --unknown -int 1 | 64 | write has no option '--unknown'.
        write com.example.there --wiat v | 64 | write has no option '--wiat'. Did you mean '--wait'?
        write com.example.there k -int 1 --wiat | 64 | Did you mean '--wait'?
        write com.example.there k -int --wait | 64 | '--wait' is not an integer
        write com.example.there k -int=5 | 64 | '-int=5' is not a type. Did you mean '-int'?
        write com.example.there k -Int 5 | 64 | '-Int' is not a type. Did you mean '-int'?
        write com.example.there k -Int | 64 | Did you mean '-int'?
        write com.example.there k -strng a | 64 | '-strng' is not a type. Did you mean '-string'?
        write com.example.there k -foo | 64 | '-foo' is not a type. To store a word that begins with a hyphen, put -string
        write com.example.there k -x | 64 | '-x' is not a type.
        write com.example.there k -currentHost | 64 | -currentHost comes before the verb: 'defaultsctl -currentHost write …'.
        write com.example.there k -currentHost -int 5 | 64 | -currentHost comes before the verb
        read com.example.there k -host elsewhere | 64 | -host comes before the verb: 'defaultsctl -host NAME read …'.
        write com.example.there k -array -Int 5 | 64 | Did you mean '-int'?
        write com.example.there k -array -int=5 | 64 | Did you mean '-int'?
        write com.example.there k --flag | 64 | A key or a value that begins with two hyphens comes after '--'.
        write com.example.there k -int 99999999999999999999999999999999999999999 | 64 | is out of range: -int takes 64 bits
        write com.example.there k -int -9223372036854775809 | 64 | is out of range
        write com.example.there k -array -int 18446744073709551616 | 64 | is out of range
        write com.example.there k --archive /dev/null | 1 | /dev/null: 
        write com.example.there k --archive - --json 1 | 64 | Give only one value
        write com.example.there k --archive /dev/null extra | 64 | Give only one value: --archive cannot be combined
        get com.example.there k | 64 | 'get' is 'read' here: defaultsctl read DOMAIN KEY
        set com.example.there k v | 64 | 'set' is 'write' here: defaultsctl write DOMAIN KEY VALUE
        list | 64 | 'list' is 'domains' here
        reset com.example.there | 64 | 'reset' is 'delete' here
        dump / | 64 | 'dump' is 'export' here
        monitor | 64 | 'monitor' is 'watch' here
        list-recursively com.example.there | 64 | 'list-recursively' is 'read' here
        log com.example.there | 64 | 'log' is 'history' here: defaultsctl history DOMAIN
        factory-reset | 64 | Give --yes to remove everything
        import --all /tmp | 64 | 'defaultsctl apply DIRECTORY --owner NAME' takes a directory that 'export --all' has written
        undo one two three | 64 | three
        rename com.example.there objec new | 1 | leaving defaults unchanged. Did you mean 'object'?
        factory-reset --dry-run --changed | 64 | --dry-run changes nothing, so --changed has no meaning.
        import com.example.there - --key k --replace | 64 | --key is about one key
        write com.example.there k --path a | 64 | Give a value
        read com.example.there k extra | 64 | extra
        read --unknown | 64 | --unknown
        read-type com.example.there | 64 | <key>
        read-type | 64 | <domain>
        rename com.example.there k | 64 | <new-key>
        rename com.example.there a b c | 64 | c
        delete | 64 | <domain>
        delete com.example.there k extra | 64 | extra
        find | 64 | <word>
        import com.example.there | 64 | <file>
        import com.example.there - --format pdf | 64 | pdf
        export com.example.there | 64 | <file>
        -host "$(printf 'a\033[1m')" read | 64 | 'a\u{1b}[1m' is not a host name
        read --host | 64 | -host needs the name of a host
        -host a read com.example.there --current-host | 64 | Give one host
        read --host a --current-host | 64 | Give one host
        -currentHost watch | 64 | Give the domain for which the host is meant
        -currentHost inspect /dev/null | 64 | A host can be given only with a domain and a key
        read com.example.there k --path | 64 | --path needs a value; see defaultsctl read --help
        write com.example.there k --path | 64 | --path needs a value
        write com.example.there k --json | 64 | --json needs a value
        write com.example.there k --if-generation -1 -int 2 | 64 | The value '-1' is invalid for '--if-generation
        write com.example.there k --path "" -int 2 | 64 | A path must not be empty
        write com.example.there k --path= -int 2 | 64 | A path must not be empty
        delete com.example.there k --path "" | 64 | A path must not be empty
        read com.example.there k --path "" | 64 | A path must not be empty
        stats --limit -1 | 64 | --limit must be a number from 1 to 1000
        help nonsense | 64 | There is no verb 'nonsense'
        help raed | 64 | Did you mean 'read'?
        help backup lst | 64 | Did you mean 'list'?
        backup | 64 | backup needs a second verb: list, now or restore
        backup nonsense | 64 | backup has no verb 'nonsense'. Its verbs are list, now and restore
        backup lst | 64 | Did you mean 'list'? Its verbs are list, now and restore
        backup restore "" | 1 | There is no backup ''
        --generate-completion-script bash | 64 | 'make install' installs them
        read --generate-completion-script=zsh | 64 | 'make install' installs them
        write com.example.there k "$(printf '\377')" | 64 | Word 4 of the command line is not UTF-8
        export com.example.there "$(printf 'f\377')" | 64 | Word 3 of the command line is not UTF-8
        -currentHost | 64 | come before a verb
        -host | 64 | -host needs the name of a host
        -host elsewhere | 64 | come before a verb
        -currentHost status | 64 | come before a verb
        -currentHost write com.example.there@host k -int 1 | 64 | already names its layer
        -currentHost raed com.example.there | 64 | come before a verb
        raed | 64 | raed
        -currenthost write com.example.there k 1 | 64 | Did you mean '-currentHost'?
        -x write com.example.there k 1 | 64 | There is no option '-x'
        --jsno read com.example.there | 64 | --jsno
        """#
}
