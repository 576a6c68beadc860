# fish completion for defaultsctl, also under the name defaults. It asks the program, which knows the live database.

function __defaultsctl_complete
    set -l words (commandline --tokenize --current-process --cut-at-cursor)
    set -l token (commandline --current-token --cut-at-cursor)
    # The typed text, without an open quotation mark or escapes.
    set -l current (string replace --regex '^["\']' '' -- $token)
    test "$current" = "$token"; and set current (string unescape -- $token)
    defaultsctl complete -- $words[2..-1] "$current" 2>/dev/null
    if test $status -eq 10
        __fish_complete_path $token
    end
end

for name in defaultsctl defaults
    complete --command $name --no-files --arguments '(__defaultsctl_complete)'
end
