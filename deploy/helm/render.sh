#!/usr/bin/env bash
# Writes what the chart makes of its defaults, and of a set of values that switches everything on, to rendered/, which CI
# checks without having helm. Needs helm 3.14 or newer, or HELM=path/to/helm.
set -euo pipefail
cd "$(dirname "$0")/../.."
helm=${HELM:-helm}
chart=$(cat deploy/helm/Chart.yaml deploy/helm/values.yaml deploy/helm/files/* deploy/helm/templates/* deploy/helm/everything.values.yaml | sha256sum | cut -d' ' -f1)
render() { # file, options of helm
  local file=$1
  shift
  {
    echo "# helm template gateway deploy/helm $*, of the chart with SHA-256 $chart"
    "$helm" template gateway deploy/helm "$@" 2>/dev/null
  } >"deploy/helm/rendered/$file"
}
render gateway.yaml
render everything.yaml --values deploy/helm/everything.values.yaml
