/// What `defaults write` stores: the domain and the key, the words of the value, as a shell has them;
/// the type that `read-type` says; and the value as JSON.
///
/// Such lines stand in people's dot files; what macOS stores is known from its manual and from what
/// its users have written.
enum WrittenLines {
    static let scalars = #"""
        com.apple.dock autohide | -bool true | boolean | true
        com.apple.dock autohide-off | -bool false | boolean | false
        com.apple.dock mru-spaces | -bool no | boolean | false
        com.apple.dock show-process-indicators | -bool YES | boolean | true
        com.apple.dock static-only | -bool True | boolean | true
        com.apple.dock showhidden | -bool TRUE | boolean | true
        com.apple.dock launchanim | -bool False | boolean | false
        com.apple.dock enable-spring-load | -bool No | boolean | false
        com.apple.dock minimize-to-application | -boolean true | boolean | true
        com.apple.dock expose-group-apps | -boolean NO | boolean | false
        com.apple.dock show-recents | -bool 0 | boolean | false
        com.apple.dock scroll-to-open | -bool 1 | boolean | true
        com.apple.dock single-app | -boolean 1 | boolean | true
        com.apple.dock tilesize | -int 36 | integer | 36
        com.apple.dock largesize | -integer 80 | integer | 80
        com.apple.dock wvous-tl-corner | -int 2 | integer | 2
        com.apple.dock wvous-tl-modifier | -int 0 | integer | 0
        com.apple.dock wvous-br-modifier | -int 1048576 | integer | 1048576
        com.apple.dock offset | -int -12 | integer | -12
        com.apple.dock plus | -int +12 | integer | 12
        com.apple.dock leading | -int 007 | integer | 7
        com.apple.dock largest | -int 9223372036854775807 | integer | 9223372036854775807
        com.apple.dock smallest | -int -9223372036854775808 | integer | -9223372036854775808
        com.apple.dock unsigned | -int 18446744073709551615 | integer | 18446744073709551615
        /Users/ada/Library/Preferences/com.example.paths plain | -int 1 | integer | 1
        ~/Library/Preferences/com.example.paths.plist home | -int 2 | integer | 2
        '$HOME/Library/Preferences/com.example.paths' quoted | -int 3 | integer | 3
        Library/Preferences/com.example.paths relative | -int 4 | integer | 4
        ~/Library/Preferences/.GlobalPreferences.plist com.example.paths | -int 5 | integer | 5
        ~/Library/Preferences/ByHost/com.example.paths.01234567-89AB-CDEF-0123-456789ABCDEF.plist host | -int 6 | integer | 6
        com.apple.dock autohide-delay | -float 0 | float | 0.0
        com.apple.dock autohide-time-modifier | -float 0.5 | float | 0.5
        com.apple.dock springboard-show-duration | -float 0.15 | float | 0.15
        com.apple.dock expose-animation-duration | -float .1 | float | 0.1
        com.apple.dock negative | -float -1.25 | float | -1.25
        com.apple.dock exponent | -float 1e-3 | float | 0.001
        com.apple.dock big-exponent | -float 2.5E+3 | float | 2500.0
        com.apple.dock point | -float 5. | float | 5.0
        com.apple.dock endless | -float inf | float | {"$real":"inf"}
        com.apple.dock mineffect | -string scale | string | "scale"
        com.apple.dock orientation | -string left | string | "left"
        com.apple.dock spaced | -string "a  b" | string | "a  b"
        com.apple.dock empty | -string "" | string | ""
        com.apple.dock hyphen | -string -bool | string | "-bool"
        com.apple.dock hyphens | -string -- --json | string | "--json"
        com.apple.dock minus | -5 | string | "-5"
        com.apple.dock letter | -- -x | string | "-x"
        com.apple.dock infinite | -inf | string | "-inf"
        com.apple.dock wait | -string --wait | string | "--wait"
        com.apple.dock verbose | -string --verbose | string | "--verbose"
        com.apple.dock json | -string --json --wait | string | "--json"
        com.apple.dock help | -string --help | string | "--help"
        com.apple.dock host | -string -currentHost | string | "-currentHost"
        com.apple.dock equals | -string --host=far | string | "--host=far"
        com.apple.dock ending | -string -- | string | "--"
        com.apple.dock last | -string x --wait | string | "x"
        com.apple.dock spaces-before | -int " 7" | integer | 7
        com.apple.dock spaces-around | -float " 0.5 " | float | 0.5
        com.apple.dock flag | -string -Int | string | "-Int"
        com.apple.dock terminator | -string -- -- | string | "--"
        com.apple.dock no-type | -- -int | string | "-int"
        com.apple.dock no-collection | -- -array | string | "-array"
        com.apple.dock no-misspelled-type | -- -Int=5 | string | "-Int=5"
        com.apple.dock no-meant-type | -- -strng | string | "-strng"
        com.apple.dock digits | -string 42 | string | "42"
        com.apple.dock braces | -string '{"a": [1, 2]}' | string | "{\"a\": [1, 2]}"
        com.apple.dock newline | -string "$(printf 'a\nb')" | string | "a\nb"
        com.apple.dock accent | -string 'Café ☕ 😀' | string | "Café ☕ 😀"
        com.apple.dock backslash | -string 'C:\new' | string | "C:\\new"
        com.apple.finder NewWindowTarget | -string PfDe | string | "PfDe"
        com.apple.finder NewWindowTargetPath | -string "file:///home/ada/" | string | "file:///home/ada/"
        com.apple.finder FXPreferredViewStyle | -string Nlsv | string | "Nlsv"
        com.apple.finder FXDefaultSearchScope | -string "SCcf" | string | "SCcf"
        com.apple.finder _FXShowPosixPathInTitle | -bool true | boolean | true
        com.apple.finder _FXSortFoldersFirst | -bool true | boolean | true
        com.apple.finder ShowPathbar | -bool true | boolean | true
        com.apple.finder ShowStatusBar | -bool true | boolean | true
        com.apple.finder QuitMenuItem | -bool yes | boolean | true
        com.apple.finder DisableAllAnimations | -bool true | boolean | true
        com.apple.finder FXEnableExtensionChangeWarning | -bool false | boolean | false
        com.apple.finder "FXICloudDriveEnabled Old" | -bool false | boolean | false
        com.apple.desktopservices DSDontWriteNetworkStores | -bool true | boolean | true
        com.apple.screencapture location | -string "${HOME}X/Shots" | string | "@HOME@X/Shots"
        com.apple.screencapture type | -string "png" | string | "png"
        com.apple.screencapture disable-shadow | -bool true | boolean | true
        com.apple.screensaver askForPassword | -int 1 | integer | 1
        com.apple.screensaver askForPasswordDelay | -int 0 | integer | 0
        com.apple.menuextra.clock DateFormat | -string "EEE d MMM  HH:mm:ss" | string | "EEE d MMM  HH:mm:ss"
        com.apple.menuextra.battery ShowPercent | -string "YES" | string | "YES"
        com.apple.TextEdit RichText | -int 0 | integer | 0
        com.apple.TextEdit PlainTextEncoding | -int 4 | integer | 4
        com.apple.terminal StringEncodings-one | -int 4 | integer | 4
        com.apple.Terminal "Default Window Settings" | -string "Pro" | string | "Pro"
        com.apple.Safari HomePage | -string "about:blank" | string | "about:blank"
        com.apple.Safari com.apple.Safari.ContentPageGroupIdentifier.WebKit2DeveloperExtrasEnabled | -bool true | boolean | true
        com.apple.ActivityMonitor ShowCategory | -int 0 | integer | 0
        com.apple.mail ConversationViewSpansMailboxes | -bool false | boolean | false
        com.googlecode.iterm2 PromptOnQuit | -bool false | boolean | false
        com.googlecode.iterm2 PrefsCustomFolder | -string "~/dotfiles/iterm" | string | "~/dotfiles/iterm"
        org.mozilla.firefox PMPrintingExpandedStateForPrint2 | -bool true | boolean | true
        -g AppleShowAllExtensions | -bool true | boolean | true
        -g KeyRepeat | -int 2 | integer | 2
        -g InitialKeyRepeat | -int 15 | integer | 15
        -g NSWindowResizeTime | -float 0.001 | float | 0.001
        -g com.apple.swipescrolldirection | -bool false | boolean | false
        -g com.apple.mouse.scaling | -float 2.5 | float | 2.5
        -g com.apple.sound.beep.volume | -float 0.0 | float | 0.0
        -g AppleInterfaceStyle | -string Dark | string | "Dark"
        -g AppleKeyboardUIMode | -int 3 | integer | 3
        -g "NSStatusItem Visible" | -bool true | boolean | true
        NSGlobalDomain AppleMeasurementUnits | -string "Centimeters" | string | "Centimeters"
        NSGlobalDomain AppleLocale | -string "en_GB@currency=EUR" | string | "en_GB@currency=EUR"
        NSGlobalDomain AppleMetricUnits | -bool true | boolean | true
        NSGlobalDomain NSTableViewDefaultSizeMode | -int 2 | integer | 2
        NSGlobalDomain ApplePressAndHoldEnabled | -bool false | boolean | false
        -globalDomain AppleFontSmoothing | -int 1 | integer | 1
        -globalDomain AppleAntiAliasingThreshold | -integer 4 | integer | 4
        "Apple Global Domain" com.apple.trackpad.scaling | -float 3 | float | 3.0
        kCFPreferencesAnyApplication TSMLanguageIndicatorEnabled | -bool false | boolean | false
        com.example.keys -hyphen | -bool true | boolean | true
        com.example.keys -int | -int 5 | integer | 5
        com.example.keys - | -string dash | string | "dash"
        com.example.keys -g | -string global | string | "global"
        com.example.keys a.b.c | -int 1 | integer | 1
        com.example.keys "a=b;c" | -int 1 | integer | 1
        com.example.keys 'it"s' | -int 1 | integer | 1
        com.example.keys é | -int 1 | integer | 1
        com.example.keys "key with spaces" | -string "value with spaces" | string | "value with spaces"
        com.example.keys 42 | -string answer | string | "answer"
        """#

    /// Words that are no numbers: macOS stores what they begin with, and so do we, and say so.
    static let taken = #"""
        com.example.taken real | -int 3.99 | integer | 3
        com.example.taken negative | -int -3.99 | integer | -3
        com.example.taken units | -int 15px | integer | 15
        com.example.taken word | -int many | integer | 0
        com.example.taken boolean | -int YES | integer | 0
        com.example.taken empty | -int "" | integer | 0
        com.example.taken hexadecimal | -int 0x1F | integer | 0
        com.example.taken sign | -int - | integer | 0
        com.example.taken percent | -float 50% | float | 50.0
        com.example.taken letters | -float nothing | float | 0.0
        com.example.taken comma | -float 0,5 | float | 0.0
        com.example.taken exponent | -float 2e | float | 2.0
        com.example.taken nested | -array -int 1x -int 2 | array | [1,2]
        """#

    static let bare = #"""
        com.example.bare word | left | string | "left"
        com.example.bare number | 1 | string | "1"
        com.example.bare real | 0.5 | string | "0.5"
        com.example.bare negative | -5 | string | "-5"
        com.example.bare boolean | true | string | "true"
        com.example.bare no | NO | string | "NO"
        com.example.bare empty | "" | string | ""
        com.example.bare path | ~/Pictures/Shots | string | "@HOME@/Pictures/Shots"
        com.example.bare spaces | "hello world" | string | "hello world"
        com.example.bare address | 'https://example.org/a?b=c#d' | string | "https://example.org/a?b=c#d"
        com.example.bare equation | "a = b;" | string | "a = b;"
        com.example.bare unknown-flag | -- -foo | string | "-foo"
        com.example.bare escaped | 'a\tb\U00e9' | string | "a\tbé"
        com.example.bare apostrophe | "it's" | string | "it's"
        com.example.bare accent | Café | string | "Café"
        com.example.bare quoted | '"two words"' | string | "two words"
        com.example.bare quoted-escape | '"a \"b\" \\ c"' | string | "a \"b\" \\ c"
        com.example.bare data | '<0fbead10>' | data | {"$data":"D76tEA=="}
        com.example.bare no-data | '<>' | data | {"$data":""}
        com.example.bare array | '(1, 2, "three four")' | array | ["1","2","three four"]
        com.example.bare no-array | '()' | array | []
        com.example.bare trailing | '(a, b,)' | array | ["a","b"]
        com.example.bare languages | '(en, de, "zh-Hans")' | array | ["en","de","zh-Hans"]
        com.example.bare dictionary | '{ a = 1; "b c" = (d); }' | dictionary | {"a":"1","b c":["d"]}
        com.example.bare no-dictionary | '{}' | dictionary | {}
        com.example.bare last | '{a=1; b=2}' | dictionary | {"a":"1","b":"2"}
        com.example.bare deep | '{a={b={c=(1,(2),{d=e;});};};}' | dictionary | {"a":{"b":{"c":["1",["2"],{"d":"e"}]}}}
        com.example.bare comment | '( /* one */ 1, 2 )' | array | ["1","2"]
        com.example.bare typed | '(<*I5>, <*R1.5>, <*BY>)' | array | [5,1.5,true]
        com.example.bare strings | '"a b" = c; d = "e";' | dictionary | {"a b":"c","d":"e"}
        com.example.bare hotkey | '{ enabled = 0; value = { parameters = (65535, 49, 1048576); type = standard; }; }' | dictionary | {"enabled":"0","value":{"parameters":["65535","49","1048576"],"type":"standard"}}
        com.example.bare xml-true | '<true/>' | boolean | true
        com.example.bare xml-false | '<false />' | boolean | false
        com.example.bare xml-integer | '<integer>42</integer>' | integer | 42
        com.example.bare xml-real | '<real>1.5</real>' | float | 1.5
        com.example.bare xml-string | '<string>a &lt; b</string>' | string | "a < b"
        com.example.bare xml-data | '<data>3q2+7w==</data>' | data | {"$data":"3q2+7w=="}
        com.example.bare xml-date | '<date>2001-01-01T00:00:10Z</date>' | date | {"$class":"NSDate","NS.time":10.0}
        com.example.bare xml-array | '<array><integer>1</integer><string>b</string></array>' | array | [1,"b"]
        com.example.bare xml-dict | '<dict><key>a</key><true/><key>b</key><dict/></dict>' | dictionary | {"a":true,"b":{}}
        com.example.bare plist | '<plist version="1.0"><array/></plist>' | array | []
        com.example.bare document | '<?xml version="1.0"?><plist><dict><key>k</key><integer>-1</integer></dict></plist>' | dictionary | {"k":-1}
        com.example.bare space-before | '  (1)' | array | ["1"]
        com.example.bare dollar | '{ "$class" = x; }' | dictionary | {"$class":"NSDictionary","NS.keys":["$class"],"NS.objects":["x"]}
        """#

    static let composites = #"""
        com.example.arrays words | -array a b c | array | ["a","b","c"]
        com.example.arrays none | -array | array | []
        com.example.arrays one | -array "" | array | [""]
        com.example.arrays integers | -array -int 1 -int -2 -integer 3 | array | [1,-2,3]
        com.example.arrays mixed | -array -bool true -float 0.5 -string -x y -data 0f | array | [true,0.5,"-x","y",{"$data":"Dw=="}]
        com.example.arrays dates | -array -date "2001-01-01 00:00:01 +0000" | array | [{"$class":"NSDate","NS.time":1.0}]
        com.example.arrays lists | -array '(1, 2)' '{a = b;}' | array | [["1","2"],{"a":"b"}]
        com.example.arrays spotlight | -array '{"enabled" = 1;"name" = "APPLICATIONS";}' '{"enabled" = 0;"name" = "FONTS";}' | array | [{"enabled":"1","name":"APPLICATIONS"},{"enabled":"0","name":"FONTS"}]
        com.example.arrays encodings | -array 4 | array | ["4"]
        com.example.arrays languages | -array "en-US" "nl-NL" | array | ["en-US","nl-NL"]
        com.example.arrays dock | -array '<dict><key>tile-type</key><string>spacer-tile</string></dict>' | array | [{"tile-type":"spacer-tile"}]
        com.example.arrays hyphens | -array -a -- --b -- | array | ["-a","--b","--"]
        com.example.arrays options | --wait -array a -- b | array | ["a","b"]
        com.example.arrays flags | -array --disable-gpu --verbose=2 | array | ["--disable-gpu","--verbose=2"]
        com.example.arrays typed-flags | -array -string --verbose -string -int 1 | array | ["--verbose","-int","1"]
        com.example.arrays more-flags | -array-add --verbose | array | ["--verbose"]
        com.example.arrays more-flags | -array-add -string --json -x | array | ["--verbose","--json","-x"]
        com.example.arrays near-flags | -array -boot -strng -x | array | ["-boot","-strng","-x"]
        com.example.arrays added | -array-add first | array | ["first"]
        com.example.arrays added | -array-add second -int 3 | array | ["first","second",3]
        com.example.arrays added | -array-add | array | ["first","second",3]
        com.example.arrays added | -array-add '{"tile-data"={};"tile-type"="spacer-tile";}' | array | ["first","second",3,{"tile-data":{},"tile-type":"spacer-tile"}]
        com.example.arrays added | -array | array | []
        com.example.arrays added | -array-add -bool yes | array | [true]
        com.example.dicts flags | -dict --key --value b -string --wiat | dictionary | {"--key":"--value","b":"--wiat"}
        com.example.dicts flags | -dict-add c -string --verbose | dictionary | {"--key":"--value","b":"--wiat","c":"--verbose"}
        com.example.dicts words | -dict a 1 b 2 | dictionary | {"a":"1","b":"2"}
        com.example.dicts none | -dict | dictionary | {}
        com.example.dicts typed | -dict a -int 1 b -bool no c -float 1 d -string -int | dictionary | {"a":1,"b":false,"c":1.0,"d":"-int"}
        com.example.dicts panes | -dict General -bool true OpenWith -bool true Privileges -bool true | dictionary | {"General":true,"OpenWith":true,"Privileges":true}
        com.example.dicts lists | -dict a '(1)' b '{c = d;}' | dictionary | {"a":["1"],"b":{"c":"d"}}
        com.example.dicts twice | -dict a 1 b 2 a 3 | dictionary | {"a":"3","b":"2"}
        com.example.dicts quoted-key | -dict '"(a)"' 1 | dictionary | {"(a)":"1"}
        com.example.dicts string-key | -dict -string "(a)" 1 | dictionary | {"(a)":"1"}
        com.example.dicts spaced | -dict "Move Left" "@~^\\U2190" | dictionary | {"Move Left":"@~^←"}
        com.example.dicts dollar | -dict '$x' 1 | dictionary | {"$class":"NSDictionary","NS.keys":["$x"],"NS.objects":["1"]}
        com.example.dicts added | -dict-add one -int 1 | dictionary | {"one":1}
        com.example.dicts added | -dict-add two -int 2 three 3 | dictionary | {"one":1,"three":"3","two":2}
        com.example.dicts added | -dict-add one -int 11 | dictionary | {"one":11,"three":"3","two":2}
        com.example.dicts added | -dict-add | dictionary | {"one":11,"three":"3","two":2}
        com.example.dicts hotkeys | -dict-add 64 '{enabled=0;value={parameters=(65535,49,1048576);type="standard";};}' | dictionary | {"64":{"enabled":"0","value":{"parameters":["65535","49","1048576"],"type":"standard"}}}
        com.example.dicts hotkeys | -dict-add 65 "<dict><key>enabled</key><false/></dict>" | dictionary | {"64":{"enabled":"0","value":{"parameters":["65535","49","1048576"],"type":"standard"}},"65":{"enabled":false}}
        """#

    static let dataAndDates = #"""
        com.example.data bytes | -data deadbeef | data | {"$data":"3q2+7w=="}
        com.example.data upper | -data DEADBEEF | data | {"$data":"3q2+7w=="}
        com.example.data none | -data "" | data | {"$data":""}
        com.example.data zero | -data 00 | data | {"$data":"AA=="}
        com.example.data odd | -data f00 | data | {"$data":"DwA="}
        com.example.dates epoch | -date "2001-01-01 00:00:00 +0000" | date | {"$class":"NSDate","NS.time":0.0}
        com.example.dates zone | -date "2001-01-01 01:30:00 +0130" | date | {"$class":"NSDate","NS.time":0.0}
        com.example.dates west | -date "2000-12-31 19:00:00 -0500" | date | {"$class":"NSDate","NS.time":0.0}
        com.example.dates colon | -date "2001-01-01 01:00:00 +01:00" | date | {"$class":"NSDate","NS.time":0.0}
        com.example.dates iso | -date 2001-01-01T00:00:05Z | date | {"$class":"NSDate","NS.time":5.0}
        com.example.dates iso-zone | -date 2001-01-01T02:00:05+02:00 | date | {"$class":"NSDate","NS.time":5.0}
        com.example.dates fraction | -date 2001-01-01T00:00:05.25Z | date | {"$class":"NSDate","NS.time":5.25}
        com.example.dates local | -date "2001-01-01 00:00:07" | date | {"$class":"NSDate","NS.time":7.0}
        com.example.dates minutes | -date "2001-01-01 00:02" | date | {"$class":"NSDate","NS.time":120.0}
        com.example.dates noon | -date 2001-01-01 | date | {"$class":"NSDate","NS.time":43200.0}
        com.example.dates leap | -date "2024-02-29 12:00:01 UTC" | date | {"$class":"NSDate","NS.time":730900801.0}
        com.example.dates slashes | -date "2/29/2024 12:00:01 pm" | date | {"$class":"NSDate","NS.time":730900801.0}
        com.example.dates midnight | -date "1/1/2001 12:00am" | date | {"$class":"NSDate","NS.time":0.0}
        com.example.dates month | -date "1 Jan 2001 00:00" | date | {"$class":"NSDate","NS.time":0.0}
        com.example.dates named | -date "January 1, 2001 00:01 GMT" | date | {"$class":"NSDate","NS.time":60.0}
        com.example.dates mail | -date "Thu, 29 Feb 2024 13:00:01 +0100 (CET)" | date | {"$class":"NSDate","NS.time":730900801.0}
        com.example.dates header | -date "Thu, 29 Feb 2024 12:00:01 GMT" | date | {"$class":"NSDate","NS.time":730900801.0}
        com.example.dates program | -date "$(TZ=UTC date -d @1709208001)" | date | {"$class":"NSDate","NS.time":730900801.0}
        com.example.dates program-mail | -date "$(date -R -d @1709208001)" | date | {"$class":"NSDate","NS.time":730900801.0}
        com.example.dates program-iso | -date "$(date -Iseconds -d @1709208001)" | date | {"$class":"NSDate","NS.time":730900801.0}
        com.example.dates program-rfc | -date "$(date --rfc-3339=seconds -d @1709208001)" | date | {"$class":"NSDate","NS.time":730900801.0}
        com.example.dates old | -date "1999-12-31 23:59:59 +0000" | date | {"$class":"NSDate","NS.time":-31622401.0}
        """#
}
