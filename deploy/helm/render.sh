#!/usr/bin/env bash
# Writes what the chart makes of its defaults to rendered/gateway.yaml, which CI checks without having helm.
set -euo pipefail
cd "$(dirname "$0")/../.."
chart=$(cat deploy/helm/Chart.yaml deploy/helm/values.yaml deploy/helm/templates/* | sha256sum | cut -d' ' -f1)
{
  echo "# helm template gateway deploy/helm, of the chart with SHA-256 $chart"
  helm template gateway deploy/helm
} >deploy/helm/rendered/gateway.yaml
