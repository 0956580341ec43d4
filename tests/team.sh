#!/usr/bin/env bash
# The team's installation for real: 300 people go over three workers, one of them is killed and one
# is stopped, and in the end the record of the sandbox has everybody once.
#
#   tests/team.sh FOLDER compose   # with Docker: compose.yaml itself, as every night
#   tests/team.sh FOLDER           # without a daemon and a registry of images
#
# As root. FOLDER gets what is made: image, logs, record. The second way needs Debian's packages buildah,
# debootstrap, postgresql, iproute2 and util-linux. It builds the Containerfile on Debian with its own
# Python, or on BASE; then the very commands, settings and health checks of compose.yaml run from
# that image, beside Debian's PostgreSQL, in one network without a way out.
#
# Where packages come from is the machine's own business: PIP_SETTINGS is a file for pip, by default
# /etc/pip.conf, which the build gets as a secret; MIRROR is debootstrap's, if not Debian's own.
set -euo pipefail

CHECKOUT=$(cd "$(dirname "$0")/.." && pwd)
FOLDER=$(mkdir -p "${1:?name a folder}" && cd "$1" && pwd)
HOW=${2:-}
CAMPAIGNS=15 PEOPLE=20 # in each
MOST=450               # megabytes of the image
RECORD=$FOLDER/campaigns/record.jsonl
SERVICE=http://127.0.0.1:8700

say() { echo "$(date +%T) $*"; }
within() { # half an hour for all of it, however busy the machine
  [ $SECONDS -lt 1800 ] || { say "This takes too long; see $FOLDER/*.log." && exit 1; }
  sleep 2
}

settings() {
  local each
  for each in AUTH BASE APP; do echo "ASSESSMENT_${each}_URL=$SERVICE"; done
  echo ASSESSMENT_CLIENT_ID=sandbox-client
  echo ASSESSMENT_CLIENT_SECRET=sandbox-secret
  echo ASSESSMENT_AUDIENCE=https://sandbox.invalid/api
  echo POSTGRES_PASSWORD=team
  echo PREFECT_API_AUTH_STRING=team:of-three
}

# -- with Docker ---------------------------------------------------------------------------------

compose() {
  docker compose --project-directory "$FOLDER" -f "$CHECKOUT/compose.yaml" \
    -f "$CHECKOUT/tests/team.yaml" "$@"
}

with_compose() {
  begin() {
    docker build -f "$CHECKOUT/Containerfile" -t hiring-campaigns "$CHECKOUT"
    check_size $(($(docker image inspect -f '{{.Size}}' hiring-campaigns) / 1000000))
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=sandbox \
      -addext subjectAltName=DNS:sandbox -addext keyUsage=digitalSignature,keyCertSign \
      -keyout "$FOLDER/key.pem" -out "$FOLDER/campaigns/ca.pem"
    SERVICE=https://sandbox
    (settings && echo CAMPAIGN_CA_FILE=/campaigns/ca.pem) >"$FOLDER/.env"
    chown -R 1000:1000 "$FOLDER/campaigns"
    compose up -d --no-build --wait --scale worker=3
    mapfile -t WORKERS < <(compose ps -q worker)
  }
  typed() { compose exec -T up "$@"; }
  sql() { compose exec -T postgres psql -qAt -U campaigns -d ledger -c "$1"; }
  worker() { echo "${WORKERS[$(($1 - 1))]}"; }
  sends() { # its runs are begun, and not ended
    local host
    host=$(docker inspect -f '{{.Config.Hostname}}' "$(worker "$1")")
    [ -n "$(sql "SELECT 1 FROM run WHERE ended IS NULL AND host = '$host' LIMIT 1")" ]
  }
  killed() { docker kill "$(worker "$1")"; }
  stopped() { docker stop "$(worker "$1")"; }
  finish() { compose down; }
  end() { compose logs >"$FOLDER/compose.log" 2>&1 && compose down -v; }
}

# -- without: what compose.yaml says, from the image ---------------------------------------------

containers() { buildah --root "$FOLDER/storage" --runroot "$FOLDER/run" "$@" 2> >(grep -v CNI >&2); }

build() {
  local root=$FOLDER/debian settings=${PIP_SETTINGS:-/etc/pip.conf} made
  if [ -z "${BASE:-}" ]; then
    [ -x "$root/usr/bin/python3" ] ||
      debootstrap --variant=minbase --include=python3,python3-venv,passwd,ca-certificates \
        trixie "$root" ${MIRROR:+"$MIRROR"} >"$FOLDER/debootstrap.log"
    rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/usr/share/{doc,man,locale}/*
    made=$(containers from scratch)
    containers add -q "$made" "$root" / >/dev/null
    containers commit -q --rm "$made" localhost/debian-python >/dev/null
  fi
  [ -f "$settings" ] || settings=/dev/null
  containers build --isolation chroot --network host --format docker --layers \
    --build-arg BASE="${BASE:-localhost/debian-python}" --secret id=pip,src="$settings" \
    --volume /etc/ssl/certs:/etc/ssl/certs:ro \
    -f "$CHECKOUT/Containerfile" -t hiring-campaigns "$CHECKOUT" >"$FOLDER/build.log" 2>&1
  made=$(containers images --format '{{.Size}}' localhost/hiring-campaigns)
  check_size "${made%% *}"
}

# Of a service: its `settings`, its `command`, its health `check`; one word a line.
service() {
  containers run --isolation chroot -v "$CHECKOUT:/checkout:ro" -v "$FOLDER:/folder:ro" tool -- \
    python - "$1" "$2" <<'PY'
import re, sys
from pathlib import Path
from ruamel.yaml import YAML

given = dict(line.split("=", 1) for line in Path("/folder/.env").read_text().splitlines())
text = Path("/checkout/compose.yaml").read_text()
text = re.sub(r"\$\{(\w+):[-?]([^}]*)\}", lambda found: given.get(found[1]) or found[2], text)
of = YAML(typ="safe").load(text)["services"][sys.argv[1]]
all_of_them = (given if "env_file" in of else {}) | of.get("environment", {})
image = ["CMD", "campaign", "doctor", "--offline"]  # its HEALTHCHECK
says = {
    "settings": [f"--env={name}={value}" for name, value in all_of_them.items()],
    "command": of.get("entrypoint", ["campaign"]) + of.get("command", []),
    "check": of.get("healthcheck", {}).get("test", image)[1:],
}
print(*says[sys.argv[2]], sep="\n")
PY
}

# run NAME SERVICE WORD…: in the container NAME, with the settings and folders of the service.
run() {
  local name=$1 of=$2 given
  shift 2
  mapfile -t given <"$FOLDER/$of.settings"
  containers run --isolation chroot "${given[@]}" --env TEAM="$name" \
    --env PREFECT_WORKER_WEBSERVER_PORT="$(port "$name")" \
    -v "$FOLDER/campaigns:/campaigns" -v "$FOLDER/data:/data" "$name" -- "$@"
}

port() { echo "808${1//[!1-9]/}"; } # of a worker's health: they share one network

# start NAME SERVICE [WORD…]: what compose.yaml has it run, or these words, until it is healthy.
start() {
  local name=$1 of=$2 words
  shift 2
  service "$of" settings >"$FOLDER/$of.settings"
  containers from --name "$name" --add-host postgres:127.0.0.1 --add-host prefect:127.0.0.1 \
    localhost/hiring-campaigns >/dev/null
  if [ $# -gt 0 ]; then words=("$@"); else mapfile -t words < <(service "$of" command); fi
  run "$name" "$of" "${words[@]}" >"$FOLDER/$name.log" 2>&1 &
  [ $# -eq 0 ] || return 0
  mapfile -t words < <(service "$of" check)
  until run "$name" "$of" "${words[@]//8080/$(port "$name")}" >"$FOLDER/health.log" 2>&1; do within; done
  say "$name is healthy."
}

# The processes of a container, those that began first first, without the tool that began them.
of() {
  local number
  for number in $(grep -lzx "TEAM=$1" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3 | sort -n); do
    grep -qz buildah "/proc/$number/cmdline" 2>/dev/null || echo "$number"
  done
}

without_a_daemon() {
  begin() {
    local bin as=(runuser -u postgres --) each
    ip link set lo up
    settings >"$FOLDER/.env"
    rm -rf "$FOLDER"/{postgres,data}
    install -d -o 1000 "$FOLDER/data"
    install -d -o postgres "$FOLDER/postgres"
    containers rm -a >/dev/null
    containers from --name tool localhost/hiring-campaigns >/dev/null
    chown -R 1000:1000 "$FOLDER/campaigns"
    bin=$(echo /usr/lib/postgresql/*/bin)
    echo team >"$FOLDER/postgres/password"
    "${as[@]}" "$bin/initdb" -D "$FOLDER/postgres/data" -U campaigns -A scram-sha-256 \
      --pwfile="$FOLDER/postgres/password" >/dev/null
    (cd / && exec "${as[@]}" "$bin/postgres" -D "$FOLDER/postgres/data" -k "$FOLDER/postgres") \
      >"$FOLDER/postgres.log" 2>&1 &
    export PGPASSWORD=team PGHOST=127.0.0.1 PGUSER=campaigns
    for each in prefect ledger; do
      until psql -q postgres -c "CREATE DATABASE $each" 2>/dev/null; do within; done
    done
    start sandbox up python -m sandbox --port 8700 --record /campaigns/record.jsonl \
      --fault invite=late=10:1:always
    start prefect prefect
    start up up
    for each in 1 2 3; do start "worker-$each" worker; done
  }
  typed() { run up up "$@"; }
  sql() { psql -qAt ledger -c "$1"; }
  sends() { # one of its processes is at work on a campaign
    [ -n "$(of "worker-$1" | grep -xf <(sql "SELECT pid FROM run WHERE ended IS NULL"))" ]
  }
  killed() { of "worker-$1" | xargs -r kill -9 2>/dev/null || true; } # some end with others
  stopped() { end_of "worker-$1"; }
  end_of() {
    local number
    read -r number < <(of "$1")
    kill -TERM "$number"
    while [ -d "/proc/$number" ]; do within; done
  }
  finish() { for each in worker-3 up prefect; do end_of $each; done; }
  end() {
    local each
    for each in sandbox up prefect worker-{1,2,3}; do of "$each" | xargs -r kill -9 2>/dev/null || true; done
    kill -INT "$(head -1 "$FOLDER/postgres/data/postmaster.pid")"
    wait
    containers rm -a >/dev/null
  }
}

# -- what happens --------------------------------------------------------------------------------

check_size() {
  say "The image has $1 MB."
  [ "$1" -le $MOST ]
}

definitions() {
  local number person file
  for number in $(seq $CAMPAIGNS); do
    file=$FOLDER/team-$number.yaml
    printf 'campaign: team-%s\nproject: {name: Team %s}\nproblem: 42\nstage_id: 1\ncandidates:\n' \
      "$number" "$number" >"$file"
    for person in $(seq $PEOPLE); do
      echo "  - {first_name: Ann$person, last_name: Of$number, email1: ann$person.of$number@people.test}"
    done >>"$file"
    chmod 644 "$file"
  done
  mv "$FOLDER"/team-*.yaml "$FOLDER/campaigns"
  say "$CAMPAIGNS campaigns of $PEOPLE people are in the folder."
}

# How many stand there; or of each campaign with doubts what the service's own record says of them.
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
    unsure = [row["email1"] for row in each["candidates"] if row["invite"] == "unsure"]
    if unsure:
        says = (word for who in unsure for word in ("--sent" if who in came else "--again", who))
        print(each["campaign"], *says)
PY
}

status() { typed campaign status --json >"$FOLDER/status.json" || [ $? -eq 3 ]; } # 3: somebody is unsure
invited() { grep -c '"op":"invite".*"worked":true' "$RECORD" || true; }

settle() { # as a person would who looks into the service's web application
  local words
  told doubts >"$FOLDER/doubts"
  while read -ra words; do
    typed campaign settle "${words[@]}" --why "By the record" </dev/null
    typed campaign run --yes "/campaigns/${words[0]}.yaml" </dev/null
  done <"$FOLDER/doubts"
}

team() {
  rm -rf "$FOLDER/campaigns"
  mkdir "$FOLDER/campaigns"
  trap end EXIT
  begin
  definitions
  until sends 1 && sends 2; do within; done
  killed 2
  say "Worker 2 is killed, with all of its runs. $(invited) people are invited."
  stopped 1
  say "Worker 1 has stopped. $(invited) people are invited."
  until status && [ $(($(told invited) + $(told unsure))) -eq $((CAMPAIGNS * PEOPLE)) ]; do
    within
  done
  say "$(told invited) people are invited, $(told unsure) unsure. A person settles these."
  settle
  status
  finish
  say "All have stopped."
  python3 - "$RECORD" "$((CAMPAIGNS * PEOPLE))" "$(told invited)" <<'PY'
import json, sys
from collections import Counter
from pathlib import Path

entries = map(json.loads, Path(sys.argv[1]).read_text().splitlines())
times = Counter(each["email"] for each in entries if each["op"] == "invite" and each["worked"])
twice, people = sum(number > 1 for number in times.values()), int(sys.argv[2])
print(f"The record: {len(times)} people invited, {twice} of them twice; the ledger: {sys.argv[3]}.")
sys.exit(twice > 0 or len(times) != people or int(sys.argv[3]) != people)
PY
}

case $HOW in
  compose) with_compose && team ;;
  in-its-network) without_a_daemon && team ;;
  *) build && unshare --net "$0" "$FOLDER" in-its-network ;;
esac
