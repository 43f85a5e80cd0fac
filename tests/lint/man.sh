#!/bin/bash
# man.sh GPUFS: the manual agrees with the binary. Every page is clean for groff and has the usual
# sections; every command has a page and every page a command; the options in a page's OPTIONS are
# those of the command's --help; synopses and examples use commands and options that there are;
# pages that are referred to exist. Prints file:line: what is wrong.
set -u
gpufs=$1

# complain PAGE TEXT WHAT…: at the first line of the page that, as printed, has the text.
complain() {
    local line
    line=$(sed "s/\\\\-/-/g; s/\\\\(aq/'/g; s/\\\\(ti/~/g; s/\\\\(ha/^/g; s/\\\\e/\\\\/g" "$1" |
        grep -nF -m 1 -- "$2" | cut -d: -f1)
    echo "$1:${line:-1}: ${*:3}"
}

# A page as plain text, each paragraph on one line.
as_text() { groff -man -t -Tascii -P-c -P-b -P-o -P-u -rLL=1000n "$1" 2>/dev/null; }

# section NAME: its lines from a page's text.
section() { awk -v name="$1" '/^[A-Z]/ { on = $0 == name; next } on'; }

# The options that lines such as "-e, --event EVENT   which events" begin with, one a line.
options_in() { sed 's/   *[^- ].*//' | grep -oE '(^|[ ,])--?[a-z][a-z-]*' | tr -d ' ,' | sort -u; }
# tags NAME: the options that a section of a page's text explains.
tags() { section "$1" | sed -n 's/^       \(-.*\)/\1/p' | options_in; }

# usage FILE TEXT COMMAND WORD…: complains about words that are no option of the command.
usage() {
    local word
    for word in "${@:4}"; do
        case $word in
            -- | '|' | '>' | '>>') break ;;
            -[a-z]* | --[a-z]*) ;;
            *) continue ;;
        esac
        word=${word%%=*}
        [[ ${options[$3]} == *" $word "* ]] || complain "$1" "$2" "'gpufs $3' has no option $word"
    done
}

# Splits a command line as a shell does, as far as quotes go. Fails when one is not closed.
words_of() { xargs -n 1 printf '%s\n' <<<"$1" 2>/dev/null; }

# examples FILE TEXT: the lines a user is meant to type, behind a prompt, in TEXT of FILE.
examples() {
    local line words
    while read -r line; do
        line=${line#*gpufs }
        if ! words=$(words_of "$line"); then
            complain "$1" "gpufs $line" "a quote is not closed"
            continue
        fi
        mapfile -t words <<<"$words"
        [[ ${words[0]} == -* || ${words[0]} == help ]] && continue
        if [ -z "${options[${words[0]}]-}" ]; then
            complain "$1" "gpufs $line" "there is no command 'gpufs ${words[0]}'"
        else
            usage "$1" "gpufs $line" "${words[@]:0:1}" "${words[@]:1}"
        fi
    done < <(grep -E '^ *[#$] ([A-Z_]+=[^ ]* )*gpufs ' <<<"$2")
}

declare -A options=()  # by command: " -e --event --if "
all=' '
for command in $("$gpufs" --help | sed -n 's/^  \([a-z-]*\)  .*/\1/p'); do
    options[$command]=" $("$gpufs" "$command" --help | sed -n 's/^  *\(-.*\)/\1/p' | options_in |
        tr '\n' ' ')"
    all+=${options[$command]}
    page=man/gpufs-$command.1
    [ -e "$page" ] || echo "$page:1: missing: every command has a page"
done
if [ ${#options[@]} = 0 ]; then
    echo "$gpufs: --help lists no command"
    exit 1
fi

for page in man/*.[1578]; do
    name=$(basename "$page" .1)
    command=${name#gpufs-}
    [[ $page == *.1 && $name != gpufs && -z ${options[$command]-} ]] &&
        echo "$page:1: there is no command 'gpufs $command'"
    # A page may point at another, as man(1) finds it once it is installed.
    source=$(sed -n '1s/^\.so man[1578]/man/p' "$page")
    if [ -n "$source" ] && [ ! -e "$source" ]; then
        echo "$page:1: $source is not there"
        continue
    fi
    source=${source:-$page}
    text=$(as_text "$source")

    # man(1) shows a page in one piece: where sheets of paper would end does not matter.
    groff -man -t -Tutf8 -rLL=78n -ww -z "$source" 2>&1 | grep -v 'will not fit on one page' |
        sed "s/^troff: //; s/^warning: file '\(.*\)', around line \([0-9]*\):/\1:\2:/; s/warning: //
            /:[0-9]*:$/ { N; s/\n *\(warning: \)*/ / }"
    for title in NAME SYNOPSIS DESCRIPTION "SEE ALSO"; do
        grep -qx "$title" <<<"$text" || echo "$page:1: has no section $title"
    done
    while read -r other; do
        other=${other%)}
        [ -e "man/${other/(/.}" ] || complain "$source" "${other%(*}" "refers to a page $other)"
    done < <(grep -oE 'gpufs(-[a-z]+)?\([1578]\)' <<<"$text" | sort -u)
    examples "$source" "$text"
    [[ $page == *.1 ]] || continue

    for title in OPTIONS "EXIT STATUS"; do
        grep -qx "$title" <<<"$text" || echo "$page:1: has no section $title"
    done
    grep -qF .EX "$source" || echo "$page:1: has no example"
    manual=" $(tags OPTIONS <<<"$text" | tr '\n' ' ')"
    if [ "$name" = gpufs ]; then
        help=" $("$gpufs" --help | options_in | tr -d "'" | tr '\n' ' ') -h "
        for word in $(tags 'COMMON OPTIONS' <<<"$text"); do
            [[ $all == *" $word "* ]] || complain "$page" "$word" "no command has the option $word"
        done
    else
        help=${options[$command]-}
        synopsis=$(section SYNOPSIS <<<"$text")
        while read -r group; do
            for word in $group; do
                [[ $word == --help || $synopsis =~ $word($|[^a-z-]) ]] && continue 2
            done
            complain "$source" "SH SYNOPSIS" "SYNOPSIS lacks $group"
        done < <("$gpufs" "$command" --help | sed -n 's/^  *\(-.*\)/\1/p' | sed 's/   *[^- ].*//; s/,//; s/ [A-Z[].*//')
        while read -r line; do
            read -ra words <<<"$(tr -d '[]{}|.,' <<<"$line")"
            [ "${words[*]:0:2}" = "gpufs $command" ] &&
                usage "$source" "SH SYNOPSIS" "$command" "${words[@]:2}"
        done <<<"$synopsis"
    fi
    for word in $help; do
        [[ $manual == *" $word "* ]] ||
            complain "$source" "SH OPTIONS" "OPTIONS lacks $word of --help"
    done
    for word in $manual; do
        [[ $help == *" $word "* ]] || complain "$source" "$word" "OPTIONS has $word, --help has not"
    done
done

# What README.md tells to type.
[ -e README.md ] && examples README.md "$(cat README.md)"
exit 0
