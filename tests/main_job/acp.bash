# An agent that speaks the protocol, in bash alone. A test replaces what `on_…` does; `serve` listens.
json_text() { printf '"'; sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' | sed -e ':a' -e 'N' -e '$!ba' -e 's/\n/\\n/g' | tr -d '\n'; printf '"'; }
tell() { printf '%s\n' "$1"; }
answer() { tell "{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":$1}"; }
refuse() { tell "{\"jsonrpc\":\"2.0\",\"id\":$ID,\"error\":{\"code\":$1,\"message\":\"$2\"}}"; }
update() { tell "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"${1}\",\"update\":$2}}"; }
# Says a text, which is JSON; as another kind of piece, or in another session.
say() { update "${3:-$SESSION}" "{\"sessionUpdate\":\"${2:-agent_message_chunk}\",\"content\":{\"type\":\"text\",\"text\":$1}}"; }
end() { answer "{\"stopReason\":\"${1:-end_turn}\"}"; }

# Takes the prompt out of its request, as `read_prompt` does with one on standard input.
take_prompt() {
    local text=${LINE#*\"text\":\"}
    text=${text%%\",\"type\":\"text\"*}
    PROMPT=$(printf '%b' "${text//\\\"/\"}")
    NONCE=$(prompt_field Nonce)
    TREE=$(prompt_field Tree)
}
# A perfect report as JSON.
report() { verdict "${1:-PASS}" '[]' | json_text; }

CAN='"loadSession":true'
SESSION=s-1
on_initialize() { answer "{\"protocolVersion\":1,\"agentCapabilities\":{$CAN},\"agentInfo\":{\"name\":\"talker\",\"version\":\"7.7.7\"}}"; }
on_new() { answer "{\"sessionId\":\"$SESSION\"}"; }
on_load() { answer '{}'; }
on_option() { answer '{"configOptions":[]}'; }
on_prompt() { say "$(report)"; end; }
on_cancel() { :; }

serve() {
    while IFS= read -r LINE; do
        [[ $LINE =~ \"id\":([0-9]+) ]] && ID=${BASH_REMATCH[1]}
        case $LINE in
        *'"method":"initialize"'*) on_initialize ;;
        *'"method":"session/new"'*) on_new ;;
        *'"method":"session/load"'*) on_load ;;
        *'"method":"session/set_config_option"'*) on_option ;;
        *'"method":"session/prompt"'*) take_prompt; on_prompt ;;
        *'"method":"session/cancel"'*) on_cancel ;;
        esac
    done
}
