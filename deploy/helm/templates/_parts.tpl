{{- define "gateway.name" -}}
{{ .Release.Name }}-{{ .part }}
{{- end }}

{{- define "gateway.labels" -}}
app.kubernetes.io/name: generation-gateway
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: {{ .part }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}

{{- define "gateway.selector" -}}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end }}

{{- define "gateway.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "gateway.env" -}}
envFrom:
  - configMapRef: { name: {{ .Release.Name }}-env }
  - secretRef: { name: {{ .Values.existingSecret }} }
{{- with .Values.extraEnvFrom }}
{{ toYaml . | indent 2 }}
{{- end }}
{{- with .Values.extraEnv }}
env:
{{ toYaml . | indent 2 }}
{{- end }}
{{- end }}

{{- /* Where and as whom any pod of the gateway runs. */}}
{{- define "gateway.placement" -}}
automountServiceAccountToken: false
{{- with .Values.serviceAccountName }}
serviceAccountName: {{ . }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* Changes when something changes that a process reads only at its start. The content of the Secret is known to
       `helm upgrade` alone, not to `helm template`; there the annotation of a reloader does it (docs/operations/deployment.md). */}}
{{- define "gateway.checksums" -}}
checksum/config: {{ include (print $.Template.BasePath "/env.yaml") . | sha256sum }}
{{- $secret := lookup "v1" "Secret" .Release.Namespace .Values.existingSecret }}
{{- if $secret }}
checksum/secret: {{ $secret.data | toJson | sha256sum }}
{{- end }}
{{- with .Values.config.existingSecret }}
{{- $files := lookup "v1" "Secret" $.Release.Namespace . }}
{{- if $files }}
checksum/config-secret: {{ $files.data | toJson | sha256sum }}
{{- end }}
{{- end }}
{{- end }}

{{- define "gateway.security" -}}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  readOnlyRootFilesystem: true
  allowPrivilegeEscalation: false
  capabilities: { drop: [ALL] }
  seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- /* The pod of any process of the gateway. */}}
{{- define "gateway.pod" -}}
metadata:
  labels: {{- include "gateway.labels" . | nindent 4 }}
  annotations:
    {{- include "gateway.checksums" . | nindent 4 }}
    {{- if not .Values.monitoring.operator.enabled }}
    prometheus.io/scrape: 'true'
    prometheus.io/port: '9464'
    {{- end }}
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  {{- include "gateway.placement" . | nindent 2 }}
  # Longer than drain and the longest grace together, so that running steps, texts and calls of vendors reach their end.
  terminationGracePeriodSeconds: {{ add .Values.shutdown.drainSeconds (max .Values.shutdown.graceSeconds .Values.shutdown.callGraceSeconds .Values.shutdown.textDrainSeconds) 15 }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels: {{- include "gateway.selector" . | nindent 10 }}
  containers:
    - name: {{ .part }}
      image: {{ include "gateway.image" . }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args: [{{ .part }}]
      {{- include "gateway.env" . | nindent 6 }}
      {{- include "gateway.security" . | nindent 6 }}
      ports:
        {{- if eq .part "api" }}
        - { name: http, containerPort: 3000 }
        {{- end }}
        - { name: ops, containerPort: 9464 }
      startupProbe:
        httpGet: { path: /healthz, port: ops }
        periodSeconds: 2
        failureThreshold: 30
      livenessProbe:
        httpGet: { path: /healthz, port: ops }
        periodSeconds: 10
        timeoutSeconds: 5
      readinessProbe:
        httpGet: { path: /readyz, port: ops }
        periodSeconds: 3
        timeoutSeconds: 4
        failureThreshold: 2
      resources: {{- toYaml .resources | nindent 8 }}
      volumeMounts:
        - { name: tmp, mountPath: /tmp }
        - { name: data, mountPath: /data }
        - { name: config, mountPath: /app/config, readOnly: true }
        {{- with .Values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - { name: tmp, emptyDir: { sizeLimit: 256Mi } }
    - { name: data, emptyDir: { sizeLimit: 256Mi } }
    - name: config
      projected:
        sources:
          - configMap: { name: {{ .Release.Name }}-config }
          {{- with .Values.config.existingSecret }}
          - secret: { name: {{ . }} }
          {{- end }}
    {{- with .Values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}
