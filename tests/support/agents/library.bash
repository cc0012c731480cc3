# Functions for scripted agents. Bash and sed alone.
set -u
umask 077

# Reads the prompt from its file or from standard input into PROMPT; sets NONCE and TREE.
read_prompt() {
    if [ -n "${RUN_LOOP_JOB_PROMPT:-}" ]; then
        PROMPT=$(cat "$RUN_LOOP_JOB_PROMPT")
    else
        PROMPT=$(cat)
    fi
    NONCE=$(prompt_field Nonce)
    TREE=$(prompt_field Tree)
}

# The value of the first line `NAME: <hex>` that stands alone.
prompt_field() {
    sed -n "s/^$1: \([0-9a-f][0-9a-f]*\)\$/\1/p" <<<"$PROMPT" | head -n 1
}

# Lines `NNN HEX`: the receipts, from the parts' last lines; without a folder, from the prompt.
receipt_lines() {
    if [ -n "${RUN_LOOP_JOB_EVIDENCE:-}" ]; then
        for part in "$RUN_LOOP_JOB_EVIDENCE"/parts/*.patch; do
            [ -e "$part" ] && tail -n 1 "$part"
        done
    else
        printf '%s\n' "$PROMPT"
    fi | sed -n 's/^receipt \([0-9][0-9]*\) \([0-9a-f][0-9a-f]*\)$/\1 \2/p'
}

# The receipts as a JSON object.
receipts() {
    local out='' name value
    while read -r name value; do
        out+="${out:+, }\"$name\": \"$value\""
    done < <(receipt_lines)
    printf '{%s}' "$out"
}

# The changed paths, one a line, as JSON strings with their quotes.
json_paths() {
    if [ -n "${RUN_LOOP_JOB_EVIDENCE:-}" ]; then
        grep -oE '"path"[[:space:]]*:[[:space:]]*"([^"\\]|\\.)*"' "$RUN_LOOP_JOB_EVIDENCE/files.json" |
            sed 's/^"path"[[:space:]]*:[[:space:]]*//'
    else
        sed -n 's/^diff --git a\/.* b\/\(.*\)$/"\1"/p' <<<"$PROMPT"
    fi
}

# The coverage as a JSON array: every changed path, read.
coverage() {
    local out='' path
    while IFS= read -r path; do
        out+="${out:+, }{\"path\": $path, \"how\": \"${1:-read}\"}"
    done < <(json_paths)
    printf '[%s]' "$out"
}

# Answers each acceptance item of the plan in the prompt, as the verdict's further field.
plan_answers() {
    local out='' item
    while read -r item; do
        out+="${out:+, }{\"item\": $item, \"state\": \"met\", \"note\": \"seen\"}"
    done < <(sed -n '/^| #* Acceptance$/,/^\[end /s/^| \([0-9][0-9]*\)\. .*$/\1/p' <<<"$PROMPT")
    printf '%s' "${out:+, \"plan\": [$out]}"
}

# The verdict's JSON: verdict, findings. Override RECEIPTS, COVERAGE, NONCE, TREE, SUMMARY, EXTRA.
verdict_json() {
    printf '{"version": 1, "nonce": "%s", "tree": "%s", "verdict": "%s", "summary": "%s", "receipts": %s, "coverage": %s, "findings": %s%s}\n' \
        "$NONCE" "$TREE" "$1" "${SUMMARY:-Read every part.}" "${RECEIPTS:-$(receipts)}" \
        "${COVERAGE:-$(coverage)}" "$2" "${EXTRA-$(plan_answers)}"
}

# A whole report: some prose and one verdict block.
verdict() {
    printf '# Review\n\nI read the change.\n\n```run-loop-verdict\n'
    verdict_json "$1" "$2"
    printf '```\n'
}

# Hands over a report: to the report file where the channel is the file, else standard output.
deliver() {
    if [ -n "${RUN_LOOP_JOB_REPORT:-}" ]; then
        cat > "$RUN_LOOP_JOB_REPORT"
    else
        cat
    fi
}

# Never ends by itself.
forever() {
    while :; do sleep 1000; done
}

# The ids of the findings that the prompt asks about, one a line.
asked_findings() {
    sed -n 's/^### \(F-[0-9][0-9]*\): .*$/\1/p' <<<"$PROMPT"
}

# A whole answer: one block of a kind, with one list in it.
block() {
    printf 'I looked at it.\n\n```run-loop-%s\n{"version": 1, "nonce": "%s", "%s": %s}\n```\n' \
        "$1" "$NONCE" "$2" "$3"
}

# The same said about every finding that was asked: key, value, reasons.
each_finding() {
    local out='' id
    while read -r id; do
        out+="${out:+, }{\"finding\": \"$id\", \"$1\": \"$2\", \"note\": \"$3\"}"
    done < <(asked_findings)
    printf '[%s]' "$out"
}

# What a creator answers to all findings: fixed, refuted or deferred, with reasons.
answers() {
    block answers answers "$(each_finding action "$1" "${2:-As you said.}")"
}

# What a reviewer or the arbiter rules on all findings, with reasons.
rulings() {
    block rulings rulings "$(each_finding ruling "$1" "${2:-I read it again.}")"
}

# What a creator objects to a plan: a JSON array.
objections() {
    block challenge objections "$1"
}
