# bash completion for defaultsctl: it asks the program itself, which knows the live database.

_defaultsctl()
{
    local current words cword line word status
    if declare -F _get_comp_words_by_ref > /dev/null; then
        # Without this a key with a colon or an equals sign would be several words.
        _get_comp_words_by_ref -n ':=' -w words -i cword -c current
    else
        words=("${COMP_WORDS[@]}") cword=$COMP_CWORD current=${COMP_WORDS[COMP_CWORD]}
    fi
    local quote=${current:0:1}
    [[ $quote == [\'\"] ]] && current=${current:1} || quote= current=${current//\\/}

    COMPREPLY=()
    local output
    output=$(defaultsctl complete -- "${words[@]:1:cword-1}" "$current" 2> /dev/null)
    status=$?
    if [[ $status -eq 10 ]]; then
        compopt -o default
        return
    fi
    while IFS= read -r line; do
        word=${line%%$'\t'*}
        [[ -z $word ]] && continue
        [[ -z $quote ]] && printf -v word '%q' "$word"
        COMPREPLY+=("$word")
    done <<< "$output"
    if declare -F __ltrim_colon_completions > /dev/null; then
        __ltrim_colon_completions "$current"
    fi
}

complete -F _defaultsctl defaultsctl
