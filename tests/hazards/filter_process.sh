# Speaks git's protocol for filters that keep running, and makes every content upper case.
packet() {
  size=$(dd bs=1 count=4 2>/dev/null)
  [ -n "$size" ] || exit 0
  [ "$size" = 0000 ] && return 1
  dd bs=1 count=$((0x$size - 4)) 2>/dev/null
}
say() { printf '%04x%s\n' $((${#1} + 5)) "$1"; }
end() { printf 0000; }
skip() { while packet > /dev/null; do :; done; }
skip
say git-filter-server; say version=2; end
skip
say capability=clean; say capability=smudge; end
while :; do
  skip
  content=$(while packet; do :; done; echo .)
  content=$(printf %s "${content%.}" | tr a-z A-Z; echo .)
  content=${content%.}
  say status=success; end
  printf '%04x%s' $((${#content} + 4)) "$content"
  end; end
done
