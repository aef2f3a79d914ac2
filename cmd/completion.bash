# Completion of pmodel's commands, options, machines and stores for bash. What there is, pmodel
# itself says (`pmodel help --list`), so that this file does not age.
_pmodel() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]-}
    local pmodel=${COMP_WORDS[0]} values words=("${COMP_WORDS[@]:1:COMP_CWORD-1}")
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "$("$pmodel" help --list 2>/dev/null) --help --version" -- "$word"))
        return
    fi
    case $before in
    -m | --machine)
        COMPREPLY=($(compgen -W "$("$pmodel" machines 2>/dev/null | awk '{ print $1 }')" -- "$word")
            $(compgen -f -X '!*.conf' -- "$word"))
        return
        ;;
    --launcher)
        COMPREPLY=($(compgen -W 'local slurm pbs ssh' -- "$word") $(compgen -f -X '!*.conf' -- "$word"))
        return
        ;;
    -o | -s | --output | --store | --weights | --keep)
        COMPREPLY=($(compgen -f -X '!*.pmdb' -- "$word"))
        return
        ;;
    --*)
        values=$("$pmodel" help --values "${words[@]}" 2>/dev/null)
        if [ "$values" ]; then
            COMPREPLY=($(compgen -W "$values" -- "$word"))
            return
        fi
        ;;
    esac
    if [ "$command" = help ]; then
        COMPREPLY=($(compgen -W "$("$pmodel" help --list 2>/dev/null)" -- "$word"))
    elif [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "$("$pmodel" help --list "${words[@]}" 2>/dev/null)" -- "$word"))
    else
        case $command in
        fit | report | show | replay | query | diff | compare | merge | bound)
            COMPREPLY=($(compgen -f -X '!*.pmdb' -- "$word") $(compgen -d -- "$word"))
            ;;
        esac
    fi
}
complete -o filenames -o default -F _pmodel pmodel
