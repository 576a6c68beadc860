# fish completion for defaultsctl, also by the name of defaults: it asks the program itself, which knows the live database.

function __defaultsctl_complete
    set -l words (commandline --tokenize --current-process --cut-at-cursor)
    set -l token (commandline --current-token --cut-at-cursor)
    # What is typed, without the mark that is still open or the escapes.
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
