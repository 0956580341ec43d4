#!/usr/bin/env bash
# The team's installation for real, on a machine without a registry of images and without a daemon.
#
#   tests/team.sh FOLDER        # as root, a quarter of an hour; FOLDER keeps image, logs and record
#
# Needs Debian's packages buildah, debootstrap, postgresql, iproute2 and util-linux, and nothing but
# this script does. The image is built from the Containerfile on Debian with its own Python, or on
# BASE. Then the very commands, settings and health checks of compose.yaml run from that image, with
# Debian's PostgreSQL, in one network without a way out. 300 people go over three workers; one of
# them is killed and one is stopped; in the end the sandbox's record has everybody once.
#
# Where packages come from is the machine's own business: PIP_SETTINGS is a file for pip, by default
# /etc/pip.conf, which the build gets as a secret; MIRROR is debootstrap's, if not Debian's own.
set -euo pipefail

CHECKOUT=$(cd "$(dirname "$0")/.." && pwd)
FOLDER=$(mkdir -p "${1:?name a folder}" && cd "$1" && pwd)
IMAGE=localhost/hiring-campaigns MOST=450 # megabytes
CAMPAIGNS=15 PEOPLE=20                    # in each
WORKERS="worker-1 worker-2 worker-3"

say() { echo "$(date +%T) $*"; }
containers() { buildah --root "$FOLDER/storage" --runroot "$FOLDER/run" "$@" 2> >(grep -v CNI >&2); }

# -- the image -----------------------------------------------------------------------------------

debian() {
  local root=$FOLDER/debian made
  [ -x "$root/usr/bin/python3" ] ||
    debootstrap --variant=minbase --include=python3,python3-venv,passwd,ca-certificates \
      trixie "$root" ${MIRROR:+"$MIRROR"} >"$FOLDER/debootstrap.log"
  rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/usr/share/{doc,man,locale}/*
  made=$(containers from scratch)
  containers add -q "$made" "$root" / >/dev/null
  containers commit -q --rm "$made" localhost/debian-python >/dev/null
}

build() {
  [ -n "${BASE:-}" ] || { debian && BASE=localhost/debian-python; }
  local settings=${PIP_SETTINGS:-/etc/pip.conf} size
  [ -f "$settings" ] || settings=/dev/null
  containers build --isolation chroot --network host --format docker --layers \
    --build-arg BASE="$BASE" --secret id=pip,src="$settings" \
    --volume /etc/ssl/certs:/etc/ssl/certs:ro \
    -f "$CHECKOUT/Containerfile" -t "$IMAGE" "$CHECKOUT" >"$FOLDER/build.log" 2>&1
  size=$(containers images --format '{{.Size}}' "$IMAGE")
  say "The image has $size."
  [ "${size%% *}" -le "$MOST" ]
}

# -- compose.yaml, as it is ----------------------------------------------------------------------

# What a service is, as words of a shell: `settings`, `runs`, `check`, `ledger`.
service() {
  containers run --isolation chroot -v "$CHECKOUT:/checkout:ro" -v "$FOLDER:/folder:ro" tool -- \
    python - "$1" "$2" <<'PY'
import os, re, shlex, sys
from pathlib import Path
from ruamel.yaml import YAML

typed = dict(
    line.split("=", 1)
    for line in Path("/folder/env").read_text().splitlines()
    if line and not line.startswith("#")
)
text = Path("/checkout/compose.yaml").read_text()
text = re.sub(r"\$\{(\w+):[-?]([^}]*)\}", lambda m: typed.get(m[1]) or m[2], text)
compose = YAML(typ="safe").load(text)
of = compose["services"][sys.argv[1]]
what = sys.argv[2]
if what == "settings":
    settings = (typed if "env_file" in of else {}) | dict(of.get("environment", {}))
    print(*(f"--env={name}={value}" for name, value in settings.items() if value), sep="\n")
elif what == "runs":
    print(*of.get("entrypoint", ["campaign"]), *of.get("command", []), sep="\n")
elif what == "check":
    image = ["CMD", "campaign", "doctor", "--offline"]  # HEALTHCHECK of the image
    print(*of.get("healthcheck", {}).get("test", image)[1:], sep="\n")
else:
    print(compose["configs"]["ledger"]["content"])
PY
}

# run NAME SERVICE WORD…: in the container NAME, with the settings and folders of the service.
run() {
  local name=$1 of=$2 settings
  shift 2
  mapfile -t settings <"$FOLDER/settings.$of"
  containers run --isolation chroot "${settings[@]}" --env TEAM="$name" \
    --env PREFECT_WORKER_WEBSERVER_PORT="$(port "$name")" \
    -v "$FOLDER/campaigns:/campaigns" -v "$FOLDER/data:/data" "$name" -- "$@"
}

port() { case $1 in worker-2) echo 8082 ;; worker-3) echo 8083 ;; *) echo 8080 ;; esac }

# start NAME SERVICE [WORD…]: what compose.yaml runs, or these words, until it is stopped.
start() {
  local name=$1 of=$2 words
  shift 2
  if [ $# -gt 0 ]; then words=("$@"); else mapfile -t words < <(service "$of" runs); fi
  containers from --name "$name" --add-host postgres:127.0.0.1 --add-host prefect:127.0.0.1 \
    "$IMAGE" >/dev/null
  run "$name" "$of" "${words[@]}" >"$FOLDER/$name.log" 2>&1 &
}

healthy() {
  local words
  mapfile -t words < <(service "$2" check)
  words=("${words[@]//8080/$(port "$1")}")
  until run "$1" "$2" "${words[@]}" >"$FOLDER/$1.health" 2>&1; do within; done
  say "$1 is healthy."
}

# The processes of a container, the first that began first.
of() { grep -lzx "TEAM=$1" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3 | sort -n; }
main_of() { for each in $(of "$1"); do grep -qz buildah "/proc/$each/cmdline" || { echo "$each" && return; }; done; }
killed() { of "$1" | xargs -r kill -9 2>/dev/null || true; } # some end with others
stopped() {
  local number
  number=$(main_of "$1")
  kill -TERM "$number"
  while [ -d "/proc/$number" ]; do within; done
}

TRIES=0
within() { # half an hour for all of it, however busy the machine
  TRIES=$((TRIES + 1))
  [ $TRIES -lt 900 ] || { say "This takes too long; see $FOLDER/*.log." && exit 1; }
  sleep 2
}

# -- what happens --------------------------------------------------------------------------------

postgres() {
  local bin as=(runuser -u postgres --)
  bin=$(echo /usr/lib/postgresql/*/bin)
  rm -rf "$FOLDER/postgres" && install -d -o postgres "$FOLDER/postgres"
  echo team >"$FOLDER/postgres/password"
  "${as[@]}" "$bin/initdb" -D "$FOLDER/postgres/data" -U campaigns -A scram-sha-256 \
    --pwfile="$FOLDER/postgres/password" >/dev/null
  (cd / && exec "${as[@]}" "$bin/postgres" -D "$FOLDER/postgres/data" -k "$FOLDER/postgres") \
    >"$FOLDER/postgres.log" 2>&1 &
  POSTGRES=$!
  until sql postgres "CREATE DATABASE prefect" 2>/dev/null; do within; done
  sql prefect "$(service postgres ledger)"
}

sql() { PGPASSWORD=team psql -qAt -h 127.0.0.1 -U campaigns -d "$1" -c "$2"; }

definitions() {
  local number person
  for number in $(seq $CAMPAIGNS); do
    {
      printf 'campaign: team-%s\nproject: {name: Team %s}\nproblem: 42\nstage_id: 1\ncandidates:\n' \
        "$number" "$number"
      for person in $(seq $PEOPLE); do
        echo "  - {first_name: Ann$person, last_name: Of$number, email1: ann$person.of$number@people.test}"
      done
    } >"$FOLDER/campaigns/.team-$number.yaml"
  done
  chown -R 1000:1000 "$FOLDER/campaigns"
  for number in $(seq $CAMPAIGNS); do # whole, or not there
    mv "$FOLDER/campaigns/.team-$number.yaml" "$FOLDER/campaigns/team-$number.yaml"
  done
}

invited() { grep -c '"op":"invite".*"worked":true' "$RECORD" 2>/dev/null || true; }

# Whether a run of this worker sends: it holds the lease of its campaign.
sends() {
  local number
  sql ledger "SELECT application_name FROM pg_stat_activity WHERE application_name ~ '^[^ ]+ [0-9]+$'" |
    cut -d' ' -f2 >"$FOLDER/leases"
  for number in $(of "$1"); do grep -qx "$number" "$FOLDER/leases" && return; done
  return 1
}

status() { run up up campaign status --json >"$FOLDER/status.json" 2>/dev/null || true; } # 3: unsure

# From the statuses: how many stand there; or of each doubt its campaign, what the service's own
# record says of it, and the address.
told() {
  python3 - "$FOLDER/status.json" "$1" "$RECORD" <<'PY'
import json, sys
from pathlib import Path

statuses = json.loads(Path(sys.argv[1]).read_text())
if sys.argv[2] != "doubts":
    print(sum(each["counts"][sys.argv[2]] for each in statuses))
    sys.exit()
entries = map(json.loads, Path(sys.argv[3]).read_text().splitlines())
came = {each["email"] for each in entries if each["op"] == "invite" and each["worked"]}
for each in statuses:
    for row in each["candidates"]:
        if row["invite"] == "unsure":
            print(each["campaign"], "--sent" if row["email1"] in came else "--again", row["email1"])
PY
}

settle() { # as a person would who looks into the service's web application
  local key word email
  told doubts >"$FOLDER/doubts"
  while read -r key word email; do
    run up up campaign settle "$key" "$word" "$email" --why "By the record" </dev/null
  done <"$FOLDER/doubts"
  for key in $(cut -d' ' -f1 "$FOLDER/doubts" | sort -u); do
    run up up campaign run --yes "/campaigns/$key.yaml" </dev/null
  done
}

team() {
  ip link set lo up
  rm -rf "$FOLDER"/{campaigns,data}
  install -d -o 1000 -g 1000 "$FOLDER/campaigns" "$FOLDER/data"
  RECORD=$FOLDER/data/hiring-campaigns/out/sandbox/8700/record.jsonl
  cat >"$FOLDER/env" <<'ENV'
ASSESSMENT_AUTH_URL=http://127.0.0.1:8700
ASSESSMENT_BASE_URL=http://127.0.0.1:8700
ASSESSMENT_APP_URL=http://127.0.0.1:8700
ASSESSMENT_CLIENT_ID=sandbox-client
ASSESSMENT_CLIENT_SECRET=sandbox-secret
ASSESSMENT_AUDIENCE=https://sandbox.invalid/api
POSTGRES_PASSWORD=team
PREFECT_API_AUTH_STRING=team:of-three
ENV
  containers rm -a >/dev/null
  containers from --name tool "$IMAGE" >/dev/null
  for each in prefect up worker; do service $each settings >"$FOLDER/settings.$each"; done
  trap 'end' EXIT
  postgres && say "PostgreSQL is there."
  start sandbox up campaign sandbox --fault invite=late=3:1:always
  start prefect prefect && healthy prefect prefect
  start up up && healthy up up
  for each in $WORKERS; do start "$each" worker; done
  for each in $WORKERS; do healthy "$each" worker; done
  definitions && say "$CAMPAIGNS campaigns of $PEOPLE people are in the folder."

  until sends worker-1 && sends worker-2 && [ "$(invited)" -ge 20 ]; do within; done
  killed worker-2 && say "worker-2 is killed, with all of its runs. $(invited) people are invited."
  stopped worker-1 && say "worker-1 has stopped. $(invited) people are invited."
  until status; [ $(($(told invited) + $(told unsure))) -eq $((CAMPAIGNS * PEOPLE)) ]; do
    within
  done
  say "$(told invited) people are invited, $(told unsure) unsure. A person settles these."
  settle && status
  for each in up worker-3 prefect; do stopped $each && say "$each has stopped."; done

  python3 - "$RECORD" "$((CAMPAIGNS * PEOPLE))" "$(told invited)" <<'PY'
import json, sys
from collections import Counter
entries = [json.loads(line) for line in open(sys.argv[1])]
times = Counter(e["email"] for e in entries if e["op"] == "invite" and e["worked"])
twice, people = sum(n > 1 for n in times.values()), int(sys.argv[2])
print(f"The record: {len(times)} people invited, {twice} of them twice; the ledger: {sys.argv[3]}.")
sys.exit(twice > 0 or len(times) != people or int(sys.argv[3]) != people)
PY
}

end() {
  for each in sandbox up prefect $WORKERS; do killed "$each"; done
  kill -INT "${POSTGRES:-}" 2>/dev/null || true
  wait
  containers rm -a >/dev/null
}

if [ "${2:-}" = team ]; then
  team
else
  build
  unshare --net "$0" "$FOLDER" team
fi
