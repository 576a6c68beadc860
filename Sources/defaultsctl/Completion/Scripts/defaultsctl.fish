# fish completion for defaultsctl: it asks the program itself, which knows the live database.

function __defaultsctl_complete
    set -l words (commandline --tokenize --current-process --cut-at-cursor)
    set -l current (commandline --current-token --cut-at-cursor)
    defaultsctl complete -- $words[2..-1] $current 2>/dev/null
    if test $status -eq 10
        __fish_complete_path $current
    end
end

complete --command defaultsctl --no-files --arguments '(__defaultsctl_complete)'
