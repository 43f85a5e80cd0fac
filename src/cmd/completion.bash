# bash completion for gpufs: commands and options from the binary's own help, events from the kernel.

_gpufs() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local verb=${COMP_WORDS[1]}
    # ':' splits words for bash, so SYSTEM:EVENT arrives in pieces.
    if declare -F __ltrim_colon_completions >/dev/null; then
        _get_comp_words_by_ref -n : cur prev
        # shellcheck disable=SC2154  # set by the function above
        word=$cur before=$prev
    fi
    local choices
    if ((COMP_CWORD == 1)) || [[ $verb == help && $COMP_CWORD == 2 ]]; then
        choices=$(gpufs --help 2>/dev/null | sed -n 's/^  \([a-z]*\) .*/\1/p')
    elif [[ $verb == recipe && $COMP_CWORD == 2 ]]; then
        choices='list show run'
    elif [[ $verb == recipe && $COMP_CWORD == 3 && $word != -* ]]; then
        choices=$(gpufs recipe list 2>/dev/null | sed -n 's/^[a-z?][a-z]*  *\([^ ]*\) .*/\1/p')
        if [[ $word == */* ]]; then choices=$(compgen -f -- "$word"); fi
    elif [[ $verb == recipe && ${COMP_WORDS[2]} == run && $word != -* ]]; then
        choices=$(gpufs recipe show "${COMP_WORDS[3]}" 2>/dev/null |
            sed -n 's/^param  *\([A-Za-z0-9_]*\).*/\1=/p')
    elif [[ $verb == probe && $COMP_CWORD == 2 ]]; then
        choices='add lines list remove usdt vars'
    elif [[ $verb == probe && ${COMP_WORDS[2]} == remove && $word != -* ]]; then
        choices=$(gpufs probe list 2>/dev/null | sed -n '2,$s/^[^:]*:\([^ ]*\) .*/\1/p')
    elif [[ $verb == probe && ${COMP_WORDS[2]} == usdt && $word != -* ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
    elif [[ $before =~ ^(-i|--(input|flame|heat|html|perfetto))$ || $verb == probe && $before =~ ^(-x|--exec)$ ||
        $verb == record && ($before == -o || $before == --output) ||
        $verb == export && $before != -* && $word != -* ||
        $verb == export && $before =~ ^--(perfetto|chrome|csv|folded|pprof|speedscope|parquet)$ ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
    elif [[ $before == --unwind ]]; then
        choices='auto dwarf fp'
    elif [[ $word == -* ]]; then
        choices=$(gpufs "$verb" --help 2>/dev/null | sed -n 's/^  *\(-.*\)/\1/p' |
            sed 's/   *[^- ].*//' | grep -oE -- '--[a-z][a-z-]*' | sort -u)
    elif [[ $verb =~ ^(count|hist|latency|stacks|stats)$ && ${COMP_WORDS[*]:0:COMP_CWORD} == *' by' ]]; then
        choices='comm pid tid cpu uid cgroup kstack ustack probe func'
    elif [[ $before == -e || $before == --event || $verb =~ ^(list|count|hist|latency|stacks|stats)$ ]]; then
        choices=$(gpufs list 2>/dev/null)
    elif [[ $verb == trigger || $before == --trigger ]]; then
        choices=$(gpufs list --triggers 2>/dev/null)
    elif [[ $verb == asm || $verb == disasm || $verb == diff ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
    elif [[ $before == --session ]]; then
        choices=$(sed -n 's|^\([^ ]*\) \([^ ]*\) tracefs .*|\2|p' /proc/self/mounts | head -n 1)
        choices=$(find "$choices/instances" -maxdepth 1 -name 'gpufs-*' -printf '%f\n' 2>/dev/null |
            sed 's/^gpufs-//')
    elif [[ $verb =~ ^(run|watch)$ && $word != */* ]]; then
        # Monitors, and the parameters of those named so far.
        choices=$(gpufs run --list 2>/dev/null | awk -v verb="$verb" -v named=" ${COMP_WORDS[*]:2} " '
            /^[^ ]/ { on = index(named, " " $1 " "); if (on) any = 1; else names = names " " $1; next }
            on { sub(/=.*/, "="); print $1 }
            END { if (!any || verb == "watch") print names }')
    elif [[ $verb == options ]]; then
        choices=$(gpufs options 2>/dev/null | sed 's/=.*/=/')
    fi
    mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word")
    if declare -F __ltrim_colon_completions >/dev/null; then __ltrim_colon_completions "$word"; fi
}
complete -F _gpufs gpufs
