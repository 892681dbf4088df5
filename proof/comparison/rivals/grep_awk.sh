#!/bin/sh
# grep and awk over the raw logs: grep_awk.sh CORPORA. Prints RUN<tab>QUESTION for each claim.
# It knows one line for each way to begin, or to give up, leadership, and takes the first dd:dd:dd of a line as its time.
# It does not look into rolled .gz files, knows no last line of a killed process, and no locks and metadata.
export LC_ALL=C
cd "$1" || exit 1
LINES='became (leader|follower|candidate|pre-candidate) at term [0-9]+|\[ChangeRoleTo(Leader|Follower|Candidate)\] from term: ?-?[0-9]+|Begin to change to (master|slave), .*[eE]poch[:=] ?[0-9]+|LEADING - LEADER ELECTION TOOK|QuorumPeer.*- (LOOKING|FOLLOWING|Shutting down|Shutdown called)|cast (Msg)?[vV]ote for [0-9a-f]+.* at term [0-9]+|starting etcd server|"msg":"starting an etcd server|etcd Version: |Starting quorum peer|main - (rocketmqHome|controllerDLegerGroup)=|GetVoteResponse.*ACCEPT'
for run in */*/nodes; do
  grep -rE --include='*.log' -e "$LINES" "$run" | grep -vE 'Notification: |PreVote' | awk -v run="${run%/nodes}" '
    function seconds(text) { return substr(text, 1, 2) * 3600 + substr(text, 4, 2) * 60 + substr(text, 7, 2) }
    { split($0, path, "/"); node = path[4]; match($0, /[0-9][0-9]:[0-9][0-9]:[0-9][0-9]/); now = seconds(substr($0, RSTART)) }
    match($0, /cast (Msg)?[vV]ote for [0-9a-f]+/) {
      candidate = substr($0, RSTART, RLENGTH); sub(/.* /, "", candidate); term = $0; sub(/.* at term /, "", term); term += 0
      if (((node, term) in vote) && vote[node, term] != candidate) claims["a vote given twice"]; vote[node, term] = candidate; next
    }
    /GetVoteResponse/ {
      candidate = node; match($0, /"remoteId":"[^"]*"/); node = ($0 ~ /broker_default/) substr($0, RSTART, RLENGTH)
      match($0, /"term":[0-9]+/); term = substr($0, RSTART + 7, RLENGTH - 7)
      if (((node, term) in vote) && vote[node, term] != candidate) claims["a vote given twice"]; vote[node, term] = candidate; next
    }
    { group = /broker_default/ ? "brokers" : /Begin to change to/ ? "masters" : "controllers" }
    { leads = /became leader|ChangeRoleToLeader|change to master|LEADER ELECTION TOOK/ }
    /starting|Starting|etcd Version|main - (rocketmqHome|controllerDLegerGroup)=/ { boot = 1 }
    !/starting|Starting|etcd Version|main - (rocketmqHome|controllerDLegerGroup)=/ { boot = 0 }
    { term = ""; if (match($0, /(at term|from term:|[eE]poch[:=]) ?[0-9]+/)) { term = substr($0, RSTART, RLENGTH); gsub(/[^0-9]/, "", term) } }
    { printf "%d\t%s\t%s\t%d\t%s\t%d\n", now, group, node, leads, term, boot > "/dev/stderr" }
    END { for (name in claims) printf "%s\t%s\n", run, name }' 2>&1 >"${TMPDIR:-/tmp}/votes.$$" | sort -s -n | awk -F '\t' -v run="${run%/nodes}" '
    $6 { for (key in since) { split(key, of, SUBSEP); if (of[2] == $3) delete since[key] }; next }
    $4 {
      if ($5 != "" && (($2, $5) in won) && won[$2, $5] != $3) claims["two leaders of one term"]
      if ($5 != "") won[$2, $5] = $3
      if (($2 in over) && $1 - over[$2] >= 4) claims["a time without a leader"]
      delete over[$2]; since[$2, $3] = $1; last[$2] = $1 " " $3; next
    }
    ($2, $3) in since {
      split(last[$2], newest, " ")
      if (newest[2] != $3 && $1 - newest[1] >= 4) claims["two leaders at once"]
      if (newest[2] == $3) over[$2] = $1
      delete since[$2, $3]
    }
    END { for (name in claims) printf "%s\t%s\n", run, name }'
  cat "${TMPDIR:-/tmp}/votes.$$"; rm -f "${TMPDIR:-/tmp}/votes.$$"
done
