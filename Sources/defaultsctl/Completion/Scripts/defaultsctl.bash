# bash completion for defaultsctl, also under the name defaults. It asks the program, which knows the live database.

# Splits the beginning of a command line as the shell does, but expands nothing. The result is the
# array words, whose last one is being typed, and quote, which is the quotation mark that is still open.
__defaultsctl_split()
{
    local line=$1 word= part character
    local -i i=0 length=${#1} isword=0
    words=() quote=
    while ((i < length)); do
        character=${line:i++:1}
        case $quote$character in
            [\ $'\t\n'])
                ((isword)) && words+=("$word")
                word= isword=0
                continue
                ;;
            [\'\"]) quote=$character ;;
            "''" | '""') quote= ;;
            "\$''")
                quote=
                printf -v part '%b' "$part"
                word+=$part
                ;;
            "\$'\\")
                character=${line:i++:1}
                [[ $character == [\'\"] ]] || part+=\\
                part+=$character
                ;;
            "\$'"*) part+=$character ;;
            '$')
                if [[ ${line:i:1} == "'" ]]; then
                    quote="\$'" part= i+=1
                elif [[ ${line:i:1} != '"' ]]; then
                    word+=$character
                fi
                ;;
            \\) word+=${line:i++:1} ;;
            '"\')
                [[ ${line:i:1} == [\\\"\$\`] ]] && character=${line:i++:1}
                word+=$character
                ;;
            *) word+=$character ;;
        esac
        isword=1
    done
    [[ $quote == "\$'" ]] && printf -v part '%b' "$part" && word+=$part
    words+=("$word")
}

# Sets quoted to a text in the form that it needs after the open quotation mark. No part of it is ever
# run or expanded.
__defaultsctl_quote()
{
    local text=$1 mark=$2 character bare
    local -i i
    quoted=
    for ((i = 0; i < ${#text}; i++)); do
        character=${text:i:1}
        # Only this character, so that the rest of the word stays as it was typed.
        printf -v bare '%q' "$character"
        case $mark$character in
            "$character") quoted+=$bare ;;
            \"[\\\"\$\`]) quoted+=\\$character ;;
            "''") quoted+="'\\''" ;;
            # Inside these marks an exclamation mark means history, and $'' has no meaning.
            '"!') quoted+="\"'!'\"" ;;
            "\$'"[\\\']) quoted+=\\$character ;;
            "\$'"*) [[ $bare == "\$'"* ]] && quoted+=${bare:2:-1} || quoted+=$character ;;
            *) [[ $bare == "\$'"* ]] && quoted+=$mark$bare$mark || quoted+=$character ;;
        esac
    done
}

_defaultsctl()
{
    local line=${COMP_LINE:0:COMP_POINT} replaced=$2 output candidate typed kept mark quote quoted status
    local -a words
    # readline replaces only the end of the word, after the last colon or a similar character. The text
    # before that stays as it is.
    [[ $line == *"$replaced" ]] || return
    __defaultsctl_split "${line:0:${#line}-${#replaced}}"
    kept=${words[-1]} mark=$quote
    __defaultsctl_split "$line"
    typed=${words[-1]}
    unset 'words[-1]'

    COMPREPLY=()
    output=$(defaultsctl complete -- "${words[@]:1}" "$typed" 2> /dev/null)
    status=$?
    if [[ $status -eq 10 ]]; then
        compopt -o default
        return
    fi
    while IFS= read -r candidate; do
        candidate=${candidate%%$'\t'*}
        [[ -n $candidate && $candidate == "$kept"* ]] || continue
        __defaultsctl_quote "${candidate:${#kept}}" "$mark"
        COMPREPLY+=("$quoted")
    done <<< "$output"
}

complete -F _defaultsctl defaultsctl defaults
