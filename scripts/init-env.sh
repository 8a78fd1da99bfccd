#!/bin/sh
# Makes .env for docker-compose.yml with fresh secrets: `./scripts/init-env.sh [FILE]`. Needs a shell and nothing else.
# A file that is there already is never touched: its secrets are those of a running installation.
set -eu
file=${1:-"$(dirname "$0")/../.env"}

secret() { # bytes of randomness, as hexadecimal digits
  od -An -N "$1" -tx1 /dev/urandom | tr -d ' \n'
}

umask 077
# Made only when it is not there, also when two of these run at once.
if ! (set -C && : >"$file") 2>/dev/null; then
  echo "$file is there already, or its folder cannot be written to: nothing was changed." >&2
  exit 1
fi

key="sk-gw-$(secret 24)"
admin="$(secret 32)"
cat >"$file" <<END
# Made by scripts/init-env.sh on $(date -u +%Y-%m-%d). Keep it as you keep the database; without KEY_PEPPER no API key works.
POSTGRES_PASSWORD=$(secret 24)
REDIS_PASSWORD=$(secret 24)
MINIO_PASSWORD=$(secret 24)
GRAFANA_PASSWORD=$(secret 16)
KEY_PEPPER=$(secret 32)
ADMIN_TOKEN=$admin
OPS_VIEWER_TOKEN=$(secret 32)
MEDIA_LINK_SECRETS=$(secret 32)

# The key of the first account.
GATEWAY_API_KEY=$key

# The address that customers use; links begin with it.
PUBLIC_BASE_URL=http://localhost:8080

# Where alerts are posted to as JSON (Slack and e-mail: deploy/alertmanager/alertmanager.yml). This one reaches no one.
ALERT_WEBHOOK_URL=http://alerts.invalid/

# Sell what the built-in sandbox makes while no vendor is connected: for trying, never for customers.
# SANDBOX_BILLING_ENABLED=true

# Every variable of .env.example may follow here, for example with your files in the folder config:
# UPSTREAMS_FILE=config/upstreams.yaml
# PRICES_FILE=config/prices.yaml
END
echo "Made $file. The first API key is $key; the token for /admin and /ops is ADMIN_TOKEN in that file."
